import Foundation
import TestSupport
import Testing

@testable import KeychainServices

extension OpenSSLProgram {
    /// The options for a private key and for its public half.
    func keys(_ pair: KeyPair) throws -> (private: [String], public: [String]) {
        let `private` = try write(KeyEncoding.privateKey(pair.private.external()), to: "private")
        let `public` = try write(KeyEncoding.publicKeyInfo(pair.public.external()), to: "public")
        return (
            ["-inkey", `private`, "-keyform", "DER"], ["-pubin", "-inkey", `public`, "-keyform", "DER"]
        )
    }
}

/// DER of keys, as other software reads it.
enum KeyEncoding {
    private static let curves: [Int: [UInt8]] = [
        24: [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x01], 28: [0x2B, 0x81, 0x04, 0x00, 0x21],
        32: [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07], 48: [0x2B, 0x81, 0x04, 0x00, 0x22],
        66: [0x2B, 0x81, 0x04, 0x00, 0x23],
    ]

    private static func curve(_ coordinate: Int) -> Data { DERValue.node(0x06, Data(curves[coordinate] ?? [])) }

    /// SubjectPublicKeyInfo (RFC 5280).
    static func publicKeyInfo(_ external: Data) -> Data {
        let algorithm =
            external.first == 0x30
            ? DERValue.node(0x06, Data([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]))
                + DERValue.node(0x05, Data())
            : DERValue.node(0x06, Data([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01])) + curve((external.count - 1) / 2)
        return DERValue.node(0x30, DERValue.node(0x30, algorithm) + DERValue.node(0x03, [0] + external))
    }

    /// ECPrivateKey (RFC 5915) for curves; PKCS#1 is what RSA keys have already.
    static func privateKey(_ external: Data) -> Data {
        guard external.first == 0x04 else { return external }
        let count = (external.count - 1) / 3
        return DERValue.node(
            0x30,
            DERValue.node(0x02, Data([1])) + DERValue.node(0x04, external.suffix(count))
                + DERValue.node(0xA0, curve(count))
                + DERValue.node(0xA1, DERValue.node(0x03, [0] + external.prefix(2 * count + 1))))
    }
}
