import Bytes
import Crypto
import FoundationEssentials
import SwiftASN1

/// The promise of a public log to list a certificate (SignedCertificateTimestamp; RFC 6962, 3.2).
///
/// Does not check the signature.
package struct CertificateTimestamp: Hashable, Sendable {
    /// SHA-256 of the log's public key.
    package let log: Data
    /// When the log saw the certificate, in milliseconds since the beginning of 1970.
    package let milliseconds: UInt64
    /// How the log signs (HashAlgorithm and SignatureAlgorithm; RFC 5246, 7.4.1.4.1).
    package let digest: UInt8
    package let signer: UInt8
    package let signature: Data
    private let extensions: Data

    /// What a log saw.
    package enum Entry {
        /// DER of the certificate.
        case certificate(Data)
        /// The certificate before it had timestamps: SHA-256 of the issuer's SubjectPublicKeyInfo, and
        /// ``Certificate/loggedBody``.
        case precertificate(issuer: SHA256Digest, body: Data)
    }

    /// The largest certificate that a log can have seen, in bytes (RFC 6962, 3.1).
    private static let largestEntry = 1 << 24 - 1

    /// Reads a timestamp of version 1; nil if the bytes are not one, or if others follow it.
    package init?(_ encoded: Data) {
        var rest = TLSBytes(encoded)
        guard rest.number(bytes: 1) == 0, let log = rest.bytes(32), let milliseconds = rest.number(bytes: 8),
            let extensions = rest.vector(lengthBytes: 2), let digest = rest.number(bytes: 1),
            let signer = rest.number(bytes: 1), let signature = rest.vector(lengthBytes: 2), rest.isEmpty
        else { return nil }
        (self.log, self.milliseconds, self.extensions, self.signature) = (log, milliseconds, extensions, signature)
        (self.digest, self.signer) = (UInt8(truncatingIfNeeded: digest), UInt8(truncatingIfNeeded: signer))
    }

    /// The bytes that the log signed; nil if the entry is too large for any log.
    package func signedBytes(for entry: Entry) -> Data? {
        // The version, and the type of what is signed: a timestamp.
        var bytes = Data([0, 0])
        append(milliseconds, bytes: 8, to: &bytes)
        let body: Data
        switch entry {
        case .certificate(let certificate):
            body = certificate
            append(0, bytes: 2, to: &bytes)
        case .precertificate(let issuer, let precertificate):
            body = precertificate
            append(1, bytes: 2, to: &bytes)
            bytes += Data(issuer)
        }
        guard body.count <= Self.largestEntry else { return nil }
        append(UInt64(clamping: body.count), bytes: 3, to: &bytes)
        bytes += body
        append(UInt64(clamping: extensions.count), bytes: 2, to: &bytes)
        return bytes + extensions
    }

    private func append(_ number: UInt64, bytes count: Int, to bytes: inout Data) {
        for index in (0..<count).reversed() {
            bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(clamping: 8 * index)))
        }
    }
}

extension Certificate {
    /// The timestamps in the certificate, each as ``CertificateTimestamp`` reads it (RFC 6962, 3.3). Empty if the list
    /// cannot be read.
    package var timestamps: [Data] {
        guard let field = extensions.first(where: { $0.identifier == .certificateTimestamps }),
            let value = try? ASN1OctetString(derEncoded: Array(field.value))
        else { return [] }
        var whole = TLSBytes(Data(value.bytes))
        guard let list = whole.vector(lengthBytes: 2), whole.isEmpty else { return [] }
        var rest = TLSBytes(list)
        var timestamps: [Data] = []
        while !rest.isEmpty {
            guard let timestamp = rest.vector(lengthBytes: 2) else { return [] }
            timestamps.append(timestamp)
        }
        return timestamps
    }

    /// The TBSCertificate without the timestamps, which the logs saw before they made them (RFC 6962, 3.2).
    package var loggedBody: Data? {
        guard let root = try? DER.parse(Array(encoded)),
            let body = try? root.members(of: .sequence, as: "certificate").first,
            let fields = try? body.members(of: .sequence, as: "certificate body")
        else { return nil }
        var serializer = DER.Serializer()
        do {
            try serializer.appendConstructedNode(identifier: .sequence) { serializer in
                for field in fields {
                    if field.identifier == .context(3) {
                        try Self.serializeExtensions(of: field, into: &serializer)
                    } else {
                        serializer.serialize(field)
                    }
                }
            }
        } catch {
            return nil
        }
        return Data(serializer.serializedBytes)
    }

    private static func serializeExtensions(of field: ASN1Node, into serializer: inout DER.Serializer) throws {
        let part = "certificate extensions"
        let lists = try field.members(of: .context(3), as: part)
        let kept = try lists.flatMap { try $0.members(of: .sequence, as: part) }.filter { node in
            let identifier = try node.members(of: .sequence, as: part).first
            return try identifier?.decoded(ASN1ObjectIdentifier.self, as: part) != .certificateTimestamps
        }
        // A list of extensions is never empty (RFC 5280, 4.1).
        guard !kept.isEmpty else { return }
        serializer.appendConstructedNode(identifier: .context(3)) { serializer in
            serializer.appendConstructedNode(identifier: .sequence) { serializer in
                for node in kept { serializer.serialize(node) }
            }
        }
    }
}

extension ASN1ObjectIdentifier {
    /// The extension with a SignedCertificateTimestampList (RFC 6962, 3.3).
    fileprivate static let certificateTimestamps: ASN1ObjectIdentifier = [1, 3, 6, 1, 4, 1, 11_129, 2, 4, 2]
}

/// Reads values of TLS's presentation language (RFC 8446, 3).
private struct TLSBytes {
    private var rest: Data

    init(_ data: Data) { rest = data }

    var isEmpty: Bool { rest.isEmpty }

    mutating func bytes(_ count: Int) -> Data? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Data(rest.prefix(count))
    }

    mutating func number(bytes count: Int) -> UInt64? { bytes(count)?.reduce(0) { $0 << 8 | UInt64($1) } }

    mutating func vector(lengthBytes: Int) -> Data? { number(bytes: lengthBytes).flatMap { bytes(Int(clamping: $0)) } }
}
