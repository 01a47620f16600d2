import Bytes
import Crypto
import FoundationEssentials
import Frames

/// The certificate of a key in software that signs a member's records. An enclave signs it, because a TPM takes 10 to
/// 40 ms for a signature, and a member signs each of its records.
///
///     offset  bytes  field
///          0      8  "SKWRITER"
///          8      1  format, 1
///          9     16  circle
///         25      4  member
///         29      2  serial number, which the member gives once
///         31      8  the first time of versions that the key signs
///         39      8  the last
///         47     33  public key, compressed
///         80     64  signature by the member's signing key over "swift-keychain/circle/v1/writer" ‖ all before
package struct WriterCertificate: Sendable, Hashable {
    package static let size = 144
    private static let magic = "SKWRITER"
    private static let what = "writer certificate"

    package let circle: Identifier16
    package let member: UInt32
    package let serial: UInt16
    package let from: HybridTime
    package let until: HybridTime
    /// 33 bytes.
    let key: Data
    private let signature: Data

    package init(
        circle: Identifier16, member: UInt32, serial: UInt16, from: HybridTime, until: HybridTime, key: Data,
        signedBy sign: CircleSigner
    ) throws {
        let message = Self.message(circle, member, serial, from, until, key)
        (self.circle, self.member, self.serial) = (circle, member, serial)
        (self.from, self.until, self.key) = (from, until, key)
        signature = try sign((CircleForm.label("writer") + message).sha256)
    }

    /// - Parameter encoded: Checked by ``check(signedBy:)`` only.
    package init(decoding encoded: Data) throws(CircleError) {
        self = try CircleForm.read(encoded, as: Self.what) { reader in
            try CircleForm.readHead(Self.magic, from: &reader, of: Self.what)
            return WriterCertificate(
                circle: try Identifier16(from: &reader), member: try reader.integer(), serial: try reader.integer(),
                from: HybridTime(rawValue: try reader.integer()), until: HybridTime(rawValue: try reader.integer()),
                key: Data(try reader.take(33)), signature: Data(try reader.take(SignatureKey.signatureSize)))
        }
    }

    private init(
        circle: Identifier16, member: UInt32, serial: UInt16, from: HybridTime, until: HybridTime, key: Data,
        signature: Data
    ) {
        (self.circle, self.member, self.serial) = (circle, member, serial)
        (self.from, self.until, self.key, self.signature) = (from, until, key, signature)
    }

    private static func message(
        _ circle: Identifier16, _ member: UInt32, _ serial: UInt16, _ from: HybridTime, _ until: HybridTime, _ key: Data
    ) -> Data {
        let buffer = FrameBuffer()
        CircleForm.appendHead(magic, to: buffer)
        buffer.appendRaw(circle.bytes)
        buffer.append(member)
        buffer.append(serial)
        buffer.append(from.rawValue)
        buffer.append(until.rawValue)
        buffer.appendRaw(key)
        return buffer.data
    }

    package var encoded: Data { Self.message(circle, member, serial, from, until, key) + signature }

    /// - Throws: ``CircleError/forged(_:)`` unless the member with these keys signed it.
    package func check(signedBy keys: MemberKeys) throws(CircleError) {
        let message = CircleForm.label("writer") + Self.message(circle, member, serial, from, until, key)
        try SignatureKey(compressed: keys.signing, of: Self.what).check(signature, of: message, what: Self.what)
    }
}

/// The key in software that signs a member's records, with its certificate.
package struct RecordWriter: Sendable {
    package let certificate: WriterCertificate
    private let key: P256.Signing.PrivateKey

    /// - Parameter key: 32 bytes.
    package init(_ certificate: WriterCertificate, key: SymmetricKey) throws(CircleError) {
        guard let key = try? key.withUnsafeBytes({ try P256.Signing.PrivateKey(rawRepresentation: $0) }),
            key.publicKey.compressedRepresentation == certificate.key
        else { throw .malformed("writer key") }
        (self.certificate, self.key) = (certificate, key)
    }

    /// Makes a new key.
    ///
    /// - Parameter sign: Signs with the member's signing key.
    package static func make(
        circle: Identifier16, member: UInt32, serial: UInt16, from: HybridTime, until: HybridTime,
        signedBy sign: CircleSigner
    ) throws -> (writer: RecordWriter, key: SymmetricKey) {
        let key = P256.Signing.PrivateKey()
        let certificate = try WriterCertificate(
            circle: circle, member: member, serial: serial, from: from, until: until,
            key: key.publicKey.compressedRepresentation, signedBy: sign)
        let secret = SymmetricKey(data: key.rawRepresentation)
        return (try RecordWriter(certificate, key: secret), secret)
    }

    func signature(of message: Data) throws(CircleError) -> Data {
        guard let signature = try? key.signature(for: SHA256.hash(data: message)) else {
            throw .malformed("writer key")
        }
        return signature.rawRepresentation
    }
}

/// The public key of a writer, read once for many records.
package struct RecordChecker: Sendable {
    package let certificate: WriterCertificate
    private let key: P256.Signing.PublicKey

    /// - Parameter certificate: Its signature was checked.
    package init(_ certificate: WriterCertificate) throws(CircleError) {
        guard let key = try? P256.Signing.PublicKey(compressedRepresentation: certificate.key) else {
            throw .malformed("writer certificate")
        }
        (self.certificate, self.key) = (certificate, key)
    }

    func isValid(_ signature: Data, of message: Data) -> Bool {
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
        return key.isValidSignature(signature, for: SHA256.hash(data: message))
    }
}
