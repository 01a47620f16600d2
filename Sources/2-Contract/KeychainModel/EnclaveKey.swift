import Bytes
import FoundationEssentials

/// What kind of key an enclave keeps; raw values are stored and never reused.
package enum EnclaveKeyKind: UInt8, Sendable, CaseIterable {
    case p256Signing = 1
    case p256KeyAgreement = 2
    /// Keys of the keychain do both.
    case p256 = 3
    case mlkem768 = 4
    case mlkem1024 = 5
    case mldsa65 = 6
    case mldsa87 = 7

    /// Whether the enclave itself computes with the key; of the others it seals the seed.
    package var isComputedInside: Bool {
        switch self {
        case .p256Signing, .p256KeyAgreement, .p256: true
        case .mlkem768, .mlkem1024, .mldsa65, .mldsa87: false
        }
    }
}

/// What a key of the enclave is asked to do.
package enum EnclaveKeyOperation: Sendable, Hashable {
    /// An ECDSA signature of a digest: r and s, 32 bytes each.
    case sign(digest: Data)
    /// The x coordinate of the ECDH product with a point, `04 ‖ X ‖ Y`: 32 bytes.
    case agree(with: Data)
    /// The shared secret in a capsule (FIPS 203): 32 bytes.
    case decapsulate(Data)
    /// A signature of a message (FIPS 204).
    case signMessage(Data, context: Data)
    /// The TPM's proof that it made the key and keeps it, for a nonce of 8 to 32 bytes. The format is specified in
    /// Documentation/Specify/Formats/Enclave.md.
    case attest(nonce: Data)
    /// Nothing, if this vault's enclave made the key with this access control; an error for any other record. Asks
    /// nobody, and so works only for a key that has no application password. With it, a signature that was made before
    /// proves that a person was there.
    case recognize
}

/// A key of the enclave as it is stored, by the keychain or by the program that made it. It is worth nothing without
/// the vault and the enclave that made it. The format is specified in Documentation/Specify/Formats/Enclave.md.
package struct EnclaveKeyRecord: Sendable, Hashable {
    package var kind: EnclaveKeyKind
    package var accessControl: AccessControl
    /// Of the derivations; 16 bytes.
    package var salt: Data
    /// What opens the key besides the class key, in the form of an item's seal; may be empty.
    package var factors: Data
    /// For P-256 `04 ‖ X ‖ Y`, for others as FIPS 203 and 204 have it.
    package var publicKey: Data
    /// What the enclave gave.
    package var blob: Data
    /// Over all that goes before; 16 bytes.
    package var tag: Data

    package init(
        kind: EnclaveKeyKind, accessControl: AccessControl, salt: Data, factors: Data, publicKey: Data, blob: Data,
        tag: Data
    ) {
        self.kind = kind
        self.accessControl = accessControl
        self.salt = salt
        self.factors = factors
        self.publicKey = publicKey
        self.blob = blob
        self.tag = tag
    }

    private static let magic = Data("SKENCKEY".utf8)
    private static let version: UInt8 = 1
    package static let saltSize = 16
    package static let tagSize = 16
    /// What items of such keys have in `kSecAttrTokenID`.
    package static let tokenID = "com.apple.setoken"
    /// The most bytes of a record: an ML-DSA public key has 2,592, and an enclave's blob is shorter.
    package static let mostBytes = 8192

    /// What is decided before the enclave makes the key, and what its authorization is bound to.
    package var head: Data {
        var bytes = Self.magic
        bytes.append(Self.version)
        bytes.append(kind.rawValue)
        bytes.append(accessControl.protection.storedCode)
        bytes.append(accessControl.flags == nil ? 0 : 1)
        bytes.append(bigEndian: accessControl.flags?.rawValue ?? 0)
        bytes.append(salt)
        bytes.append(counted: factors)
        return bytes
    }

    /// All but the tag.
    package var body: Data {
        var bytes = head
        bytes.append(counted: publicKey)
        bytes.append(counted: blob)
        return bytes
    }

    package var encoded: Data { body + tag }

    /// Reads a record; nil for anything that is not one whole record of this version.
    package init?(decoding encoded: Data) {
        guard encoded.count <= Self.mostBytes else { return nil }
        var rest = encoded[...]
        guard rest.take(Self.magic.count) == Self.magic, rest.popFirst() == Self.version,
            let kind = rest.popFirst().flatMap(EnclaveKeyKind.init(rawValue:)),
            let protection = rest.popFirst().flatMap(ProtectionClass.init(storedCode:)),
            let hasFlags = rest.popFirst(), hasFlags <= 1, let flagBytes = rest.take(8),
            let salt = rest.take(Self.saltSize), let factors = rest.takeCounted(),
            let publicKey = rest.takeCounted(), let blob = rest.takeCounted(), rest.count == Self.tagSize
        else { return nil }
        let flags = AccessControl.Flags(rawValue: UInt64(bigEndianBytes: flagBytes))
        guard hasFlags == 1 || flags.rawValue == 0 else { return nil }
        self.init(
            kind: kind, accessControl: AccessControl(protection: protection, flags: hasFlags == 1 ? flags : nil),
            salt: salt, factors: factors, publicKey: publicKey, blob: blob, tag: Data(rest))
    }
}

extension Data {
    fileprivate mutating func append(counted bytes: Data) {
        append(bigEndian: UInt16(truncatingIfNeeded: bytes.count))
        append(bytes)
    }

    fileprivate mutating func take(_ count: Int) -> Data? {
        guard self.count >= count else { return nil }
        defer { removeFirst(count) }
        return Data(prefix(count))
    }

    fileprivate mutating func takeCounted() -> Data? {
        guard let count = take(2) else { return nil }
        return take(Int(bigEndianBytes: count))
    }
}
