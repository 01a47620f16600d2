import Crypto
import Foundation
import KeychainServices
import TestSupport

extension PathTable {
    private static func key(
        _ name: String, _ info: Data, policy: PathCase.Policy = .server("example.com"), _ status: OSStatus,
        _ difference: PathDifference? = nil
    ) -> PathCase {
        PathCase(name, policy: policy, status, difference) { $0.publicKey = info }
    }

    /// A public key of RSA with a modulus that nobody can use.
    private static func rsa(bits: Int, last: UInt8 = 0x01, exponent: [UInt8] = [1, 0, 1]) -> Data {
        var modulus = Data(repeating: 0x5A, count: (bits + 7) / 8)
        modulus[0] = 0x80 >> UInt8((8 - bits % 8) % 8)
        modulus[modulus.count - 1] = last
        let number = DERValue.node(0x02, modulus[0] & 0x80 == 0 ? modulus : [0] + modulus)
        return DERValue.sequence(
            DERValue.sequence(DERValue.identifier("1.2.840.113549.1.1.1"), DERValue.hex("05 00")),
            DERValue.bits(DERValue.sequence(number, DERValue.node(0x02, Data(exponent)))))
    }

    private static func point(_ bytes: Data) -> Data {
        DERValue.sequence(
            DERValue.sequence(DERValue.identifier("1.2.840.10045.2.1"), DERValue.identifier("1.2.840.10045.3.1.7")),
            DERValue.bits(bytes))
    }

    /// Sizes of RSA keys, and keys that cannot be read.
    static let keyForms: [PathCase] = {
        guard let secret = try? P256.Signing.PrivateKey(rawRepresentation: Data(repeating: 1, count: 32)) else {
            return []
        }
        let whole = secret.publicKey.x963Representation
        let (short, hybrid) = (
            secret.publicKey.compressedRepresentation, Data([6 | (whole.last ?? 0) & 1]) + whole.dropFirst()
        )
        let beside = whole.dropLast() + [(whole.last ?? 0) ^ 1]
        return [
            key("RSA of 2052 bits", rsa(bits: 2_052), errSecSuccess),
            key("RSA of 2049 bits", rsa(bits: 2_049), errSecSuccess),
            key("RSA of 2047 bits", rsa(bits: 2_047), errSecSuccess),
            key("RSA of 2041 bits", rsa(bits: 2_041), errSecSuccess),
            key("RSA of 2040 bits", rsa(bits: 2_040), errSecUnsupportedKeySize, .keySize),
            key("RSA of 8192 bits", rsa(bits: 8_192), errSecSuccess),
            key("RSA of 8193 bits", rsa(bits: 8_193), errSecUnsupportedKeySize, .keyForm),
            key(
                "RSA of 8193 bits, without a policy", rsa(bits: 8_193), policy: .basic, errSecUnsupportedKeySize,
                .keyForm),
            key("RSA of 1023 bits, without a policy", rsa(bits: 1_023), policy: .basic, errSecSuccess),
            key("RSA of 1017 bits, without a policy", rsa(bits: 1_017), policy: .basic, errSecSuccess),
            key(
                "RSA of 1016 bits, without a policy", rsa(bits: 1_016), policy: .basic, errSecUnsupportedKeySize,
                .keySize),
            key("RSA with an even modulus", rsa(bits: 2_048, last: 2), errSecUnsupportedKeySize, .keyForm),
            key("RSA with the exponent 1", rsa(bits: 2_048, exponent: [1]), errSecUnsupportedKeySize, .keyForm),
            key("RSA with the exponent 3", rsa(bits: 2_048, exponent: [3]), errSecSuccess),
            key("RSA with an even exponent", rsa(bits: 2_048, exponent: [4]), errSecUnsupportedKeySize, .keyForm),
            key("RSA with the exponent 0", rsa(bits: 2_048, exponent: [0]), errSecUnsupportedKeySize, .keyForm),
            key("P-256 as a whole point", point(whole), errSecSuccess),
            key("P-256 as half a point", point(short), errSecUnsupportedKeySize, .keyForm),
            key("P-256 as a hybrid point", point(hybrid), errSecUnsupportedKeySize, .keyForm),
            key("a point beside P-256", point(beside), errSecUnsupportedKeySize),
            key("a point of P-256 with a byte more", point(whole + [0]), errSecUnsupportedKeySize),
            key("no point", point(Data([0])), errSecUnsupportedKeySize, .keyForm),
        ]
    }()

    private static func signed(
        _ name: String, by algorithm: String, policy: PathCase.Policy = .server("example.com"), _ status: OSStatus,
        _ difference: PathDifference? = nil, selfSigned: Bool = false, extensions: [MadeExtension] = []
    ) -> PathCase {
        PathCase(
            "\(name), by an anchor",
            [
                PathCase.Member(name: "above", extensions: authority),
                PathCase.Member(
                    name: "root", issuer: selfSigned ? nil : "above", extensions: authority + extensions,
                    change: { $0.algorithm = algorithm }),
                PathCase.Member(name: "leaf", issuer: "root", extensions: leaf),
            ], given: ["leaf"], policy: policy, status, difference)
    }

    /// Signatures of anchors. Nobody checks them, but they say which digests an authority still uses.
    static let anchorSignatures: [PathCase] = [
        signed("SHA-1", by: "1.2.840.113549.1.1.5", errSecInvalidDigestAlgorithm, .anchorSignature),
        signed("SHA-1 by a curve", by: "1.2.840.10045.4.1", errSecInvalidDigestAlgorithm, .anchorSignature),
        signed("SHA-1 without a policy", by: "1.2.840.113549.1.1.5", policy: .basic, errSecSuccess),
        signed("MD5", by: "1.2.840.113549.1.1.4", errSecInvalidDigestAlgorithm, .anchorSignature),
        signed(
            "MD5 without a policy", by: "1.2.840.113549.1.1.4", policy: .basic, errSecInvalidDigestAlgorithm,
            .anchorSignature),
        signed(
            "MD2 without a policy", by: "1.2.840.113549.1.1.2", policy: .basic, errSecInvalidDigestAlgorithm,
            .anchorSignature),
        signed("SHA-256", by: "1.2.840.113549.1.1.11", errSecSuccess),
        signed("SHA-1 of its own", by: "1.2.840.113549.1.1.5", errSecSuccess, selfSigned: true),
        signed("MD5 of its own", by: "1.2.840.113549.1.1.4", errSecSuccess, selfSigned: true),
        signed(
            "SHA-1 of its own, with its key", by: "1.2.840.113549.1.1.5", errSecSuccess, selfSigned: true,
            extensions: [.key(1), .issuerKey(1)]),
        signed(
            "SHA-1 of its name, with another key", by: "1.2.840.113549.1.1.5", errSecInvalidDigestAlgorithm,
            .anchorSignature, selfSigned: true, extensions: [.key(1), .issuerKey(2)]),
    ]

    private static func statement(_ name: String, _ digits: String, _ status: OSStatus = errSecUnknownCertExtension)
        -> PathCase
    {
        PathCase(
            "statements: \(name)", leaf: leaf + [MadeExtension("1.3.6.1.5.5.7.1.3", DERValue.hex(digits))], status,
            status == errSecSuccess ? nil : .form)
    }

    private static let kinds = "06 06 04 00 8E 46 01 06"
    private static let web = "06 07 04 00 8E 46 01 06 03"

    /// Qualified statements (RFC 3739, 3.2.6; ETSI EN 319 412-5).
    static let statements: [PathCase] = [
        statement("a kind", "30 15 30 13 \(kinds) 30 09 \(web)", errSecSuccess),
        statement("no statement", "30 00"),
        statement("no sequence", "31 00"),
        statement("a statement that is no sequence", "30 02 05 00"),
        statement("a statement that is a number", "30 05 30 03 02 01 01"),
        statement("a statement that nobody knows", "30 06 30 04 06 02 2A 03", errSecSuccess),
        statement("a statement with three members", "30 0A 30 08 06 02 2A 03 05 00 05 00"),
        statement("kinds that are not there", "30 0A 30 08 \(kinds)"),
        statement("kinds of which there are none", "30 0C 30 0A \(kinds) 30 00"),
        statement("a kind that is a number", "30 0F 30 0D \(kinds) 30 03 02 01 01"),
        statement(
            "nine kinds", "30 30 30 2E \(kinds) 30 24 " + String(repeating: "06 02 2A 03 ", count: 9), errSecSuccess),
        statement("ten kinds", "30 34 30 32 \(kinds) 30 28 " + String(repeating: "06 02 2A 03 ", count: 10)),
    ]

    private static func critical(
        _ identifier: String, _ status: OSStatus = errSecSuccess, _ difference: PathDifference? = .critical
    ) -> PathCase {
        PathCase(
            "\(identifier), critical", leaf: leaf + [MadeExtension(identifier, DERValue.hex("0500")).critical], status,
            difference)
    }

    /// Critical extensions that Apple's systems know and do not read.
    static let knownCriticals: [PathCase] = [
        critical("1.2.840.113635.100.6.1.13"), critical("1.2.840.113635.100.11.1"), critical("1.2.840.113635.100.12.1"),
        critical("1.2.840.113635.100.13.1"), critical("1.2.840.113635.100.15.1"),
        critical("1.2.840.113635.100.14.1", errSecUnknownCriticalExtensionFlag, nil),
        critical("1.2.840.113635.100.6", errSecUnknownCriticalExtensionFlag, nil),
        critical("1.3.6.1.4.1.41577.5.1"), critical("1.3.6.1.4.1.41577.5", errSecUnknownCriticalExtensionFlag, nil),
        critical("2.23.146.2.1.4"), critical("1.3.6.1.4.1.311.21.10"), critical("2.23.148.1.1"),
        critical("2.23.148.1.2"), critical("2.23.148.1.3", errSecUnknownCriticalExtensionFlag, nil),
        critical("1.2.840.113533.7.65.0"),
    ]

    private static func many(_ name: String, _ identifier: String, _ member: (Int) -> Data) -> [PathCase] {
        [1_023, 1_024].map { count in
            PathCase(
                "\(count) \(name)",
                middle: authority + [
                    MadeExtension(identifier, DERValue.sequence((0..<count).map(member)))
                ], count < 1_024 ? errSecSuccess : errSecUnknownCertExtension, count < 1_024 ? nil : .limit)
        }
    }

    private static func constrained(_ count: Int, isExcluded: Bool, root: Int = 0, _ status: OSStatus) -> PathCase {
        func constraints(_ count: Int) -> [MadeExtension] {
            // One of them permits the host, or none excludes it.
            let names = (0..<count).map { GeneralName.host($0 == 0 && !isExcluded ? "example.com" : "a\($0).b") }
            if names.isEmpty { return [] }
            return [isExcluded ? .constraints(excluded: names) : .constraints(permitted: names)]
        }
        return PathCase(
            "\(root + count) \(isExcluded ? "excluded" : "permitted") names\(root > 0 ? ", some in the anchor" : "")",
            root: authority + constraints(root), middle: authority + constraints(count), status,
            status == errSecSuccess ? nil : .limit)
    }

    /// How much Apple's systems read (SecCertificate.c and SecPolicyServer.c; Apple, Security-61901).
    static let limits: [PathCase] =
        many("policies", "2.5.29.32") { DERValue.sequence(DERValue.identifier("1.2.3.\($0)")) }
        + many("addresses", "1.3.6.1.5.5.7.1.1") { _ in DERValue.hex("30 0D 06 08 2B 06 01 05 05 07 30 01 86 01 61") }
        + many("points of lists", "2.5.29.31") { _ in DERValue.hex("30 07 A0 05 A0 03 86 01 61") }
        + many("mappings", "2.5.29.33") { _ in DERValue.hex("30 08 06 02 2A 03 06 02 2A 04") }
        + many("statements", "1.3.6.1.5.5.7.1.3") { _ in DERValue.hex("30 04 06 02 2A 03") } + [
            constrained(1_023, isExcluded: false, errSecSuccess),
            constrained(1_024, isExcluded: false, errSecInvalidName),
            constrained(1_023, isExcluded: true, errSecSuccess),
            constrained(1_024, isExcluded: true, errSecInvalidName),
            constrained(512, isExcluded: true, root: 511, errSecSuccess),
            constrained(512, isExcluded: true, root: 512, errSecInvalidName),
        ]
}
