import Bytes
import Crypto
import FoundationEssentials

/// The recovery key of a circle: 256 random bits, which a person keeps on paper, and the keys that are made of them.
///
/// Its public halves are in the log. Each key of a view is sealed for them too, as for a member with the number 0. The
/// recovery key is no member, and signs one thing: an entry that admits a member with all rights.
package struct CircleRecovery: Sendable {
    /// The number in the place of a member's.
    package static let number: UInt32 = 0

    private let signing: P256.Signing.PrivateKey
    private let agreement: [KeyClass: P256.KeyAgreement.PrivateKey]
    private let hybrid: [KeyClass: SymmetricKey]
    /// The public halves.
    package let keys: MemberKeys

    /// - Parameter secret: 32 bytes.
    package init(secret: SymmetricKey, in circle: Identifier16) throws(CircleError) {
        let salt = circle.bytes
        signing = CircleForm.privateKey(from: secret, salt: salt, "recovery/signing") { number in
            number.withUnsafeBytes { try? P256.Signing.PrivateKey(rawRepresentation: $0) }
        }
        var (agreement, hybrid): ([KeyClass: P256.KeyAgreement.PrivateKey], [KeyClass: SymmetricKey]) = ([:], [:])
        func pair(_ keyClass: KeyClass) throws(CircleError) -> MemberKeys.Pair {
            let key = CircleForm.privateKey(from: secret, salt: salt, "recovery/agreement/\(keyClass.rawValue)") {
                $0.withUnsafeBytes { try? P256.KeyAgreement.PrivateKey(rawRepresentation: $0) }
            }
            let seed = CircleForm.key(from: secret, salt: salt, "recovery/hybrid/\(keyClass.rawValue)")
            (agreement[keyClass], hybrid[keyClass]) = (key, seed)
            let hybridKey = seed.withUnsafeBytes {
                try? XWingMLKEM768X25519.PrivateKey(seedRepresentation: Data($0), publicKey: nil)
            }
            guard let hybridKey else { throw .malformed("recovery key") }
            return try MemberKeys.Pair(
                agreement: key.publicKey.x963Representation, hybrid: hybridKey.publicKey.rawRepresentation)
        }
        keys = try MemberKeys(
            signing: signing.publicKey.x963Representation, whileUnlocked: pair(.whileUnlocked),
            afterFirstUnlock: pair(.afterFirstUnlock))
        (self.agreement, self.hybrid) = (agreement, hybrid)
    }

    /// What signs with the key.
    package var signer: CircleSigner {
        { [signing] digest in try signing.signature(for: SignedDigest(digest)).rawRepresentation }
    }

    /// What opens keys that were sealed for it.
    package func secrets(
        _ keyClass: KeyClass
    ) throws(CircleError) -> MemberSecrets<P256.KeyAgreement.PrivateKey> {
        guard let key = agreement[keyClass], let seed = hybrid[keyClass] else { throw .malformed("recovery key") }
        let copy = seed.withUnsafeBytes { Data.wipedWhenFreed(copying: $0) }
        return try MemberSecrets(agreement: key, hybrid: copy)
    }
}

/// A SHA-256 digest that was made elsewhere.
private struct SignedDigest: Digest {
    static let byteCount = 32
    private let bytes: [UInt8]

    init(_ digest: Data) { bytes = [UInt8](digest) }

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
    }

    func makeIterator() -> IndexingIterator<[UInt8]> { bytes.makeIterator() }

    var description: String { "digest" }
}
