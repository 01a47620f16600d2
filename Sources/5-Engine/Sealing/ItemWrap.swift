import Bytes
import Crypto
import FoundationEssentials

/// Derives the key that wraps an item's own key if the class key alone must not open the item.
package enum ItemWrap {
    /// Returns the wrapping key of an item whose seal begins with `header`.
    ///
    /// - Parameters:
    ///   - passwordKey: The application password, stretched as the header says; nil if the header has no password.
    ///   - enrolment: The state of the enrolment; used only if the header mixes it in.
    /// - Returns: Nil if a part is missing that the header mixes in.
    package static func key(
        for header: SealHeader, classKey: SymmetricKey, passwordKey: SymmetricKey?, enrolment: Data?
    ) -> SymmetricKey? {
        var material: [UInt8] = []
        defer { material.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        // Appending must not leave partly filled copies in memory.
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

    /// Returns the check value for a seal's enrolment. It shows a change of the enrolment before a person is asked for
    /// a finger. Without the class key, it reveals nothing.
    package static func enrolmentCheck(of state: Data, classKey: SymmetricKey) -> Data {
        Data(code("swift-keychain/v2/enrolment-check", state, classKey).prefix(SealHeader.Enrolment.checkSize))
    }

    private static func code(_ label: String, _ state: Data, _ classKey: SymmetricKey) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: Data(label.utf8) + state, using: classKey)
    }
}
