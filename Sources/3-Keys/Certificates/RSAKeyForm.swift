import Bytes
import FoundationEssentials
import SwiftASN1

/// The parts of an RSA key in PKCS#1 form.
struct RSAKeyForm: KeyForm {
    let sizeInBits: Int
    let publicRepresentation: Data

    init(_ bytes: Data, keyClass: KeyData.KeyClass) throws(CertificateError) {
        // What is read refers to this copy, and is gone when the copy is wiped.
        var copy = Array(bytes)
        defer { copy.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        self = try RSAKeyForm(copy, keyClass: keyClass)
    }

    private init(_ bytes: [UInt8], keyClass: KeyData.KeyClass) throws(CertificateError) {
        let part = "RSA \(keyClass) key"
        let members = try ASN1Node.parse(bytes, as: part).members(of: .sequence, as: part)
        switch keyClass {
        case .public where members.first?.identifier == .sequence:
            let info = try PublicKeyInfo(der: Data(bytes))
            guard info.algorithm == .rsa else { throw CertificateError(malformed: part) }
            let key = try ASN1Node.parse(info.bits, as: part).members(of: .sequence, as: part)
            try self.init(integers: key, count: 2, as: part)
        case .public:
            try self.init(integers: members, count: 2, as: part)
        case .private:
            // Version 0: two primes. Nobody uses version 1, with more primes.
            guard try members.first?.decoded(Int.self, as: part) == 0 else { throw CertificateError(malformed: part) }
            try self.init(integers: Array(members.dropFirst()), count: 8, as: part)
        }
    }

    /// Reads `count` positive integers. The first two are modulus and exponent.
    private init(integers: [ASN1Node], count: Int, as part: String) throws(CertificateError) {
        guard integers.count == count else { throw CertificateError(malformed: part) }
        for integer in integers {
            guard try !Self.magnitude(of: integer, as: part).isEmpty else { throw CertificateError(malformed: part) }
        }
        let modulus = try Self.magnitude(of: integers[0], as: part)
        let exponent = try Self.magnitude(of: integers[1], as: part)
        guard let highest = modulus.first, Self.isOdd(modulus), Self.isOdd(exponent), exponent != [1] else {
            throw CertificateError(malformed: part)
        }
        sizeInBits = modulus.count * 8 - highest.leadingZeroBitCount
        var serializer = DER.Serializer()
        serializer.appendConstructedNode(identifier: .sequence) {
            $0.serialize(integers[0])
            $0.serialize(integers[1])
        }
        publicRepresentation = Data(serializer.serializedBytes)
    }

    /// Returns the big-endian bytes of a non-negative integer without leading zeros; none for zero.
    private static func magnitude(of node: ASN1Node, as part: String) throws(CertificateError) -> ArraySlice<UInt8> {
        try node.decoded(ArraySlice<UInt8>.self, as: part)
    }

    private static func isOdd(_ magnitude: ArraySlice<UInt8>) -> Bool {
        magnitude.last.map { $0 & 1 == 1 } ?? false
    }
}

extension KeyData {
    /// The modulus and the exponent of an RSA key, big-endian without leading zeros; none of other keys.
    package var publicIntegers: [Data] {
        guard type == .rsa,
            let members = try? ASN1Node.parse(publicRepresentation, as: "RSA key").members(of: .sequence, as: "RSA key")
        else { return [] }
        return members.compactMap { try? Data($0.decoded(ArraySlice<UInt8>.self, as: "RSA key")) }
    }
}
