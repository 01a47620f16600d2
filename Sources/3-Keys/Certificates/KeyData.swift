import Crypto
import FoundationEssentials
import KeychainModel

/// A key in the external representation of Apple's `SecKey`: `04 ‖ X ‖ Y` and `04 ‖ X ‖ Y ‖ K`
/// (ANSI X9.63) for elliptic curves, PKCS#1 (RFC 8017, A.1) for RSA.
///
/// The secret bytes are kept in memory that is locked and wiped when it is freed, and no description shows them.
package struct KeyData: Sendable {
    /// Raw values are those of `kSecAttrKeyType`.
    package enum KeyType: Int, Sendable {
        case rsa = 42
        case ellipticCurve = 73
    }

    /// Raw values are those of `kSecAttrKeyClass`.
    package enum KeyClass: Int, Sendable {
        case `public` = 0
        case `private` = 1
    }

    package let type: KeyType
    /// The curve's size, or the length of the modulus.
    package let sizeInBits: Int
    /// The public key, for a private key that of its pair.
    package let publicRepresentation: Data
    private let secret: SecretBytes?

    /// Reads a key of the stated type and class. The curve follows from the length alone.
    ///
    /// An RSA public key may also be a SubjectPublicKeyInfo; it is kept as PKCS#1.
    package init(_ bytes: Data, type: KeyType, keyClass: KeyClass) throws(CertificateError) {
        let form =
            switch type {
            case .rsa: try RSAKeyForm(bytes, keyClass: keyClass)
            case .ellipticCurve: try EllipticCurveKeyForm(bytes, keyClass: keyClass)
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

    /// The public half; a public key is its own.
    package var publicKey: KeyData { KeyData(publicHalfOf: self) }

    /// The whole key: secret for private keys, and then in memory that is wiped when it is freed.
    package var externalRepresentation: Data {
        secret.map { .wipedWhenFreed($0.withUnsafeBytes { Data($0) }) } ?? publicRepresentation
    }

    /// The bytes of ``externalRepresentation`` where they are kept.
    package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if let secret { return try secret.withBytes(body) }
        return try publicRepresentation.withBytes(body)
    }

    /// SHA-1 of the public representation: the same for both halves of a pair, and for a certificate's
    /// public key hash.
    package var applicationLabel: Data {
        Data(Insecure.SHA1.hash(data: publicRepresentation))
    }

    /// The bytes of an RSA modulus or of a coordinate.
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

/// What reading a key of one type gives.
protocol KeyForm {
    var sizeInBits: Int { get }
    var publicRepresentation: Data { get }
}
