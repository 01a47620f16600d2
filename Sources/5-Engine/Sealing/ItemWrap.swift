import Crypto
import FoundationEssentials
import KeychainModel

/// The key that wraps an item's own key when a class key alone must not.
package enum ItemWrap {
    /// The wrapping key of an item whose seal begins with `header`.
    ///
    /// - Parameters:
    ///   - passwordKey: The application password, stretched as the header says; nil if the header names none.
    ///   - enrolment: The state of the enrolment; looked at only if it is mixed in.
    /// - Returns: Nil if something is missing that the header says is mixed in.
    package static func key(
        for header: SealHeader, classKey: SymmetricKey, passwordKey: SymmetricKey?, enrolment: Data?
    ) -> SymmetricKey? {
        var material: [UInt8] = []
        defer { material.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        // Appending must not leave half-filled copies behind.
        material.reserveCapacity(96)
        classKey.withUnsafeBytes { material.append(contentsOf: $0) }
        if header.password != nil {
            guard let passwordKey else { return nil }
            passwordKey.withUnsafeBytes { material.append(contentsOf: $0) }
        }
        if header.enrolment?.isMixedIn == true {
            guard let enrolment else { return nil }
            material.append(contentsOf: code("swift-keychain/v2/enrolment-factor", enrolment, classKey))
        }
        return material.withUnsafeBytes {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: $0),
                info: Data("swift-keychain/v2/item-wrap".utf8) + header.encoded, outputByteCount: 32)
        }
    }

    /// What a seal remembers of the enrolment, so that a change is told before anybody is asked for a finger.
    /// Without the class key it says nothing.
    package static func enrolmentCheck(of state: Data, classKey: SymmetricKey) -> Data {
        Data(code("swift-keychain/v2/enrolment-check", state, classKey).prefix(SealHeader.Enrolment.checkSize))
    }

    private static func code(_ label: String, _ state: Data, _ classKey: SymmetricKey) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: Data(label.utf8) + state, using: classKey)
    }
}
