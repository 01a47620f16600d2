import Bytes
import Crypto
import FoundationEssentials

/// A key in the external representation of Apple's `SecKey`: for elliptic curves `04 ‖ X ‖ Y` and `04 ‖ X ‖ Y ‖ K`
/// (ANSI X9.63), for RSA PKCS#1 (RFC 8017, A.1), for Ed25519 the 32 bytes of RFC 8032, 5.1.5.
///
/// The secret bytes are in locked memory that is wiped when it is freed. No description shows them.
package struct KeyData: Sendable {
    /// Raw values are those of `kSecAttrKeyType`.
    package enum KeyType: Int, Sendable {
        case rsa = 42
        case ellipticCurve = 73
        /// Apple's systems have this type as a private interface; its number is in no document.
        case ed25519 = 105
    }

    /// Raw values are those of `kSecAttrKeyClass`.
    package enum KeyClass: Int, Sendable {
        case `public` = 0
        case `private` = 1
    }

    package let type: KeyType
    /// The size of the curve, or the length of the modulus.
    package let sizeInBits: Int
    /// The public key. For a private key, the public key of its pair.
    package let publicRepresentation: Data
    private let secret: SecretBytes?

    /// Reads a key of this type and class. The length alone tells the curve.
    ///
    /// An RSA public key may also be a SubjectPublicKeyInfo. It is stored as PKCS#1.
    package init(_ bytes: Data, type: KeyType, keyClass: KeyClass) throws(CertificateError) {
        let form =
            switch type {
            case .rsa: try RSAKeyForm(bytes, keyClass: keyClass)
            case .ellipticCurve: try EllipticCurveKeyForm(bytes, keyClass: keyClass)
            case .ed25519: try Ed25519KeyForm(bytes, keyClass: keyClass)
            } as any KeyForm
        self.type = type
        self.sizeInBits = form.sizeInBits
        self.publicRepresentation = form.publicRepresentation
        guard keyClass == .private else {
            self.secret = nil
            return
        }
        do {
            self.secret = try bytes.withUnsafeBytes { try SecretBytes(copying: $0) }
        } catch {
            throw CertificateError(noMemoryFor: "private key")
        }
    }

    private init(publicHalfOf key: KeyData) {
        type = key.type
        sizeInBits = key.sizeInBits
        publicRepresentation = key.publicRepresentation
        secret = nil
    }

    package var keyClass: KeyClass { secret == nil ? .public : .private }

    /// The public half. For a public key, the key itself.
    package var publicKey: KeyData { KeyData(publicHalfOf: self) }

    /// The whole key. For a private key these bytes are secret, and their memory is wiped when it is freed.
    package var externalRepresentation: Data {
        secret.map { .wipedWhenFreed($0.withUnsafeBytes { Data($0) }) } ?? publicRepresentation
    }

    /// Runs `body` with the bytes of ``externalRepresentation`` without copying them.
    package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if let secret { return try secret.withBytes(body) }
        return try publicRepresentation.withBytes(body)
    }

    /// SHA-1 of the public representation. Both halves of a pair have the same label, which is also the public key hash
    /// of a certificate.
    package var applicationLabel: Data { Data(Insecure.SHA1.hash(data: publicRepresentation)) }

    /// The length of an RSA modulus or of a coordinate in bytes.
    package var blockSize: Int { (sizeInBits + 7) / 8 }
}

extension KeyData: Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package func hash(into hasher: inout Hasher) {
        hasher.combine(type)
        hasher.combine(keyClass)
        hasher.combine(publicRepresentation)
    }

    package static func == (left: KeyData, right: KeyData) -> Bool {
        left.type == right.type && left.publicRepresentation == right.publicRepresentation
            && left.secret == right.secret
    }

    package var description: String {
        "\(type) \(keyClass) key, \(sizeInBits) bits, application label \(applicationLabel.hexadecimal())"
    }

    package var debugDescription: String { description }

    package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

/// The parts of a key that reading it finds.
protocol KeyForm {
    var sizeInBits: Int { get }
    var publicRepresentation: Data { get }
}
