#if HTTPClientSupport
import Crypto
import Foundation
import SwiftASN1

/// A certificate that is made here (RFC 5280), for a key on P-256.
struct NewCertificate {
    /// Who signs certificates.
    struct Issuer {
        let name: String
        let key = P256.Signing.PrivateKey()
    }

    enum Kind {
        /// It signs certificates of servers.
        case authority
        /// It is of a server with this name, or with an address of 4 or 16 bytes.
        case server(String, address: [UInt8]?)
    }

    let subject: String
    let key: P256.Signing.PublicKey
    let kind: Kind
    private let times: [UTCTime]

    init(subject: String, key: P256.Signing.PublicKey, kind: Kind, from begin: Date, to end: Date) throws {
        self.subject = subject
        self.key = key
        self.kind = kind
        times = try [begin, end].map { date in
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = .gmt
            let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
            // Until 2049 (RFC 5280, 4.1.2.5.1).
            return try UTCTime(
                year: parts.year ?? 0, month: parts.month ?? 0, day: parts.day ?? 0, hours: parts.hour ?? 0,
                minutes: parts.minute ?? 0, seconds: parts.second ?? 0)
        }
    }

    /// Returns the certificate in DER.
    func encoded(signedBy issuer: Issuer) throws -> [UInt8] {
        var body = DER.Serializer()
        try body.appendConstructedNode(identifier: .sequence) { body in
            try body.appendConstructedNode(identifier: .context(0)) { try $0.serialize(2) }
            // Positive, and of 128 random bits.
            let serial = [0x40] + withUnsafeBytes(of: UUID().uuid) { Array($0) }
            body.appendPrimitiveNode(identifier: .integer) { $0.append(contentsOf: serial) }
            try Self.appendAlgorithm(to: &body)
            try Self.append(name: issuer.name, to: &body)
            try body.appendConstructedNode(identifier: .sequence) { validity in
                for time in times { try validity.serialize(time) }
            }
            try Self.append(name: subject, to: &body)
            body.serializeRawBytes(key.derRepresentation)
            try body.appendConstructedNode(identifier: .context(3)) { extensions in
                try extensions.appendConstructedNode(identifier: .sequence) { extensions in
                    try append(to: &extensions, issuer)
                }
            }
        }
        var whole = DER.Serializer()
        try whole.appendConstructedNode(identifier: .sequence) { whole in
            whole.serializeRawBytes(body.serializedBytes)
            try Self.appendAlgorithm(to: &whole)
            let signature = try issuer.key.signature(for: Data(body.serializedBytes)).derRepresentation
            try whole.serialize(ASN1BitString(bytes: Array(signature)[...]))
        }
        return whole.serializedBytes
    }

    /// ECDSA with SHA-256 (RFC 5758, 3.2).
    private static func appendAlgorithm(to serializer: inout DER.Serializer) throws {
        try serializer.appendConstructedNode(identifier: .sequence) {
            try $0.serialize([1, 2, 840, 10_045, 4, 3, 2] as ASN1ObjectIdentifier)
        }
    }

    /// A name with a commonName alone.
    private static func append(name: String, to serializer: inout DER.Serializer) throws {
        try serializer.appendConstructedNode(identifier: .sequence) { names in
            try names.appendConstructedNode(identifier: .set) { set in
                try set.appendConstructedNode(identifier: .sequence) { pair in
                    try pair.serialize([2, 5, 4, 3] as ASN1ObjectIdentifier)
                    try pair.serialize(ASN1UTF8String(name))
                }
            }
        }
    }

    private func append(to extensions: inout DER.Serializer, _ issuer: Issuer) throws {
        let issuerIdentifier = Self.identifier(of: issuer.key.publicKey)
        switch kind {
        case .authority:
            // It signs no other authority.
            try Self.append(19, isCritical: true, to: &extensions) { value in
                try value.appendConstructedNode(identifier: .sequence) {
                    try $0.serialize(true)
                    try $0.serialize(0)
                }
            }
            // keyCertSign.
            try Self.append(15, isCritical: true, to: &extensions) {
                $0.appendPrimitiveNode(identifier: .bitString) { $0.append(contentsOf: [2, 0x04]) }
            }
            try Self.append(14, isCritical: false, to: &extensions) {
                $0.appendPrimitiveNode(identifier: .octetString) { $0.append(contentsOf: issuerIdentifier) }
            }
        case .server(let host, let address):
            // digitalSignature.
            try Self.append(15, isCritical: true, to: &extensions) {
                $0.appendPrimitiveNode(identifier: .bitString) { $0.append(contentsOf: [7, 0x80]) }
            }
            // serverAuth.
            try Self.append(37, isCritical: false, to: &extensions) { value in
                try value.appendConstructedNode(identifier: .sequence) {
                    try $0.serialize([1, 3, 6, 1, 5, 5, 7, 3, 1] as ASN1ObjectIdentifier)
                }
            }
            try Self.append(35, isCritical: false, to: &extensions) { value in
                value.appendConstructedNode(identifier: .sequence) {
                    $0.appendPrimitiveNode(identifier: .context(0)) { $0.append(contentsOf: issuerIdentifier) }
                }
            }
            // A name is an IA5String, and an address an OCTET STRING.
            try Self.append(17, isCritical: false, to: &extensions) { value in
                value.appendConstructedNode(identifier: .sequence) {
                    $0.appendPrimitiveNode(identifier: .context(address == nil ? 2 : 7)) {
                        $0.append(contentsOf: address ?? Array(host.utf8))
                    }
                }
            }
        }
    }

    /// SHA-1 of the key, which is a name and no protection (RFC 5280, 4.2.1.2).
    private static func identifier(of key: P256.Signing.PublicKey) -> [UInt8] {
        Array(Insecure.SHA1.hash(data: key.x963Representation))
    }

    /// Appends an extension of the arc 2.5.29.
    private static func append(
        _ number: UInt, isCritical: Bool, to extensions: inout DER.Serializer,
        _ body: (inout DER.Serializer) throws -> Void
    ) throws {
        var value = DER.Serializer()
        try body(&value)
        try extensions.appendConstructedNode(identifier: .sequence) { one in
            try one.serialize([2, 5, 29, number] as ASN1ObjectIdentifier)
            if isCritical { try one.serialize(true) }
            one.appendPrimitiveNode(identifier: .octetString) { $0.append(contentsOf: value.serializedBytes) }
        }
    }
}

extension ASN1Identifier {
    fileprivate static func context(_ number: UInt) -> ASN1Identifier {
        ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific)
    }
}
#endif
