import Foundation
import KeychainServices
import TestSupport

extension PathTable {
    /// A certificate that is valid from one day to another.
    private static func valid(
        _ name: String, from start: TimeInterval, days: Double, at date: Date? = nil,
        policy: PathCase.Policy = .server("example.com"), leaf: [MadeExtension] = leaf, _ status: OSStatus,
        _ difference: PathDifference? = nil
    ) -> PathCase {
        let begin = Date(timeIntervalSince1970: start)
        var entry = PathCase(name, leaf: leaf, policy: policy, status, difference) { certificate in
            (certificate.notBefore, certificate.notAfter) = (begin, begin + days * day)
        }
        for place in entry.members.indices.dropLast() {
            entry.members[place].validity = (Date(timeIntervalSince1970: 1_500_000_000), self.date + 9_999 * day)
        }
        return entry.at(date ?? begin + day)
    }

    /// 1 July 2019, 00:00 UTC, from which on Apple's rules for servers hold below anchors of the program.
    private static let july2019 = 1_561_935_600.0
    private static let now = date.timeIntervalSince1970

    private static func expired(_ name: String, _ member: String, _ from: Double, _ to: Double, _ status: OSStatus)
        -> PathCase
    {
        var entry = PathCase(name, status)
        for place in entry.members.indices where entry.members[place].name == member {
            entry.members[place].validity = (date + from * day, date + to * day)
        }
        return entry
    }

    /// When certificates are valid, and how long.
    static let validities: [PathCase] = [
        expired("over", "leaf", -20, -10, errSecCertificateExpired),
        expired("not yet", "leaf", 10, 20, errSecCertificateNotValidYet),
        expired("an authority that is over", "middle", -20, -10, errSecCertificateExpired),
        expired("an authority that is not yet valid", "middle", 10, 20, errSecCertificateNotValidYet),
        expired("an anchor that is over", "root", -20, -10, errSecCertificateExpired),
        expired("an anchor that is not yet valid", "root", 10, 20, errSecCertificateNotValidYet),
        valid("the first second", from: now, days: 5, at: date, errSecSuccess),
        valid("the second before", from: now, days: 5, at: date - 1, errSecCertificateNotValidYet),
        valid("the last second", from: now, days: 5, at: date + 5 * day, errSecSuccess, .lastSecond),
        valid("the second after", from: now, days: 5, at: date + 5 * day + 1, errSecCertificateExpired),
        valid("825 days", from: now, days: 825, errSecSuccess),
        valid("825 days and an hour", from: now, days: 825 + 1 / 24.0, errSecSuccess),
        valid(
            "825 days, an hour and a second", from: now, days: 825 + 3_601 / 86_400.0,
            errSecCertificateValidityPeriodTooLong, .validity),
        valid("ten years", from: now, days: 3_650, errSecCertificateValidityPeriodTooLong, .validity),
        valid("ten years, without a policy", from: now, days: 3_650, policy: .basic, errSecSuccess),
        valid("ten years for a client", from: now, days: 3_650, policy: .client, leaf: [.uses(.client)], errSecSuccess),
        valid(
            "ten years from July 2019 on", from: july2019, days: 3_650, errSecCertificateValidityPeriodTooLong,
            .validity),
        valid("ten years from a second before on", from: july2019 - 1, days: 3_650, errSecSuccess),
        valid(
            "no use, from the first second of July 2019 on", from: july2019, days: 100,
            leaf: [.names(.host("example.com"))], errSecSuccess),
        valid("ten years from June 2019 on", from: july2019 - day, days: 3_650, errSecSuccess),
        valid(
            "no use, from June 2019 on", from: july2019 - day, days: 100, leaf: [.names(.host("example.com"))],
            errSecSuccess),
        valid(
            "any use, from June 2019 on", from: july2019 - day, days: 100,
            leaf: [.names(.host("example.com")), .uses(.any)], errSecSuccess, .use),
        valid(
            "no use, from July 2019 on", from: july2019 + 1, days: 100, leaf: [.names(.host("example.com"))],
            errSecInvalidExtendedKeyUsage, .serverUse),
        valid("beyond 2050", from: 2_600_000_000, days: 100, errSecSuccess),
    ]

    /// Kinds and sizes of keys. OpenSSL's program made these public keys.
    static let keys: [PathCase] = {
        let server = PathCase.Policy.server("example.com")
        return [
            PathCase("P-192", key: TableKeys.p192, policy: .basic, errSecSuccess),
            PathCase("P-192 of a server", key: TableKeys.p192, policy: server, errSecUnsupportedKeySize),
            PathCase("P-224", key: TableKeys.p224, policy: .basic, errSecSuccess),
            PathCase("P-224 of a server", key: TableKeys.p224, policy: server, errSecUnsupportedKeySize, .smallCurve),
            PathCase("P-256 of a server", middle: nil, errSecSuccess),
            PathCase("P-384", key: TableKeys.p384, policy: server, errSecSuccess),
            PathCase("P-521", key: TableKeys.p521, policy: server, errSecSuccess),
            PathCase("secp256k1", key: TableKeys.secp256k1, policy: server, errSecUnsupportedKeySize, .key),
            PathCase(
                "secp256k1 without a policy", key: TableKeys.secp256k1, policy: .basic, errSecUnsupportedKeySize, .key),
            PathCase("brainpoolP256r1", key: TableKeys.brainpool, policy: server, errSecUnsupportedKeySize, .key),
            PathCase("Ed25519", key: TableKeys.ed25519, policy: server, errSecSuccess),
            PathCase("Ed448", key: TableKeys.ed448, policy: server, errSecSuccess),
            PathCase("X25519", key: TableKeys.x25519, policy: server, errSecUnsupportedKeySize, .key),
            PathCase("RSA of 2048 bits", key: TableKeys.rsa2048, policy: server, errSecSuccess),
            PathCase("RSA of 1024 bits", key: TableKeys.rsa1024, policy: server, errSecUnsupportedKeySize),
            PathCase("RSA of 1024 bits without a policy", key: TableKeys.rsa1024, policy: .basic, errSecSuccess),
            PathCase(
                "RSA of 768 bits without a policy", key: TableKeys.rsa768, policy: .basic, errSecUnsupportedKeySize),
            PathCase("DSA", key: TableKeys.dsa, policy: .basic, errSecUnsupportedKeySize, .key),
            PathCase("a key whose bits are no whole bytes", middle: nil, policy: .basic, errSecUnsupportedKeySize) {
                let key = Data(base64Encoded: TableKeys.p384) ?? Data()
                // The last 98 bytes are the point, and the byte before says how many bits of it are not used.
                $0.publicKey = key.prefix(22) + [4] + key.suffix(97)
            },
        ]
    }()

    /// Signatures that are weak, or none.
    static let signatures: [PathCase] = [
        PathCase("SHA-1", errSecInvalidDigestAlgorithm) { $0.digest = .sha1 },
        PathCase("SHA-1 without a policy", policy: .basic, errSecInvalidDigestAlgorithm) { $0.digest = .sha1 },
        PathCase("changed after it was signed", errSecNotSigner) { $0.isForged = true },
        PathCase("changed after it was signed, without a policy", policy: .basic, errSecNotSigner) {
            $0.isForged = true
        },
        PathCase("a signature of no whole bytes", errSecNotSigner) { $0.unusedBits = 3 },
        PathCase("a signature of no whole bytes, without a policy", policy: .basic, errSecNotSigner) {
            $0.unusedBits = 7
        },
        changed("an authority that was changed after it was signed", "middle", errSecNotSigner) { $0.isForged = true },
        changed("an authority with a signature of no whole bytes", "middle", errSecNotSigner) { $0.unusedBits = 1 },
        changed("an anchor that was changed after it was signed", "root", errSecSuccess) { $0.isForged = true },
        changed("an anchor that SHA-1 signs", "root", errSecSuccess) { $0.digest = .sha1 },
        changed("an authority that SHA-1 signs", "middle", errSecInvalidDigestAlgorithm) { $0.digest = .sha1 },
    ]

    private static func changed(
        _ name: String, _ member: String, _ status: OSStatus,
        _ change: @escaping @Sendable (inout MadeCertificate) -> Void
    ) -> PathCase {
        var entry = PathCase(name, status)
        for place in entry.members.indices where entry.members[place].name == member {
            entry.members[place].change = change
        }
        return entry
    }

    private static func crossed(
        _ name: String, _ given: [String], anchors: [String] = ["root"], _ status: OSStatus = errSecSuccess,
        _ difference: PathDifference? = nil
    ) -> PathCase {
        typealias Member = PathCase.Member
        let (over, soon) = ((from: date - 9 * day, to: date - 8 * day), (from: date + 8 * day, to: date + 9 * day))
        return PathCase(
            name,
            [
                Member(name: "root", extensions: authority), Member(name: "other", extensions: authority),
                Member(name: "good", issuer: "root", namesake: "authority", extensions: authority),
                Member(name: "bad", issuer: "other", namesake: "authority", extensions: authority),
                Member(name: "own", namesake: "authority", extensions: authority),
                Member(name: "over", issuer: "root", namesake: "authority", extensions: authority, validity: over),
                Member(name: "soon", issuer: "root", namesake: "authority", extensions: authority, validity: soon),
                Member(name: "none", issuer: "root", namesake: "authority", extensions: [.noAuthority]),
                Member(
                    name: "narrow", issuer: "root", namesake: "authority",
                    extensions: authority + [.constraints(permitted: [.host("example.org")])]),
                Member(name: "code", issuer: "root", namesake: "authority", extensions: authority + [.uses(.code)]),
                Member(name: "twice", issuer: "root", namesake: "authority", extensions: authority + authority),
                Member(name: "leaf", issuer: "good", extensions: leaf),
            ], given: ["leaf"] + given, anchors: anchors, status, difference)
    }

    /// The key that a certificate says signed it, and the one that its authority says it has.
    static let keyNames: [PathCase] = [
        PathCase("the key that is named", middle: authority + [.key(1)], leaf: leaf + [.issuerKey(1)], errSecSuccess),
        PathCase(
            "another key than is named", middle: authority + [.key(1)], leaf: leaf + [.issuerKey(2)],
            errSecCreateChainFailed),
        PathCase("a key that is named by one alone", leaf: leaf + [.issuerKey(2)], errSecSuccess),
        PathCase(
            "another key than the anchor's", root: authority + [.key(1)], middle: authority + [.issuerKey(2)],
            errSecCreateChainFailed),
    ]

    /// Several paths: authorities that signed each other, or themselves, in any order.
    static let otherPaths: [PathCase] = [
        crossed("one path", ["good"]),
        crossed("no path", ["bad"], errSecCreateChainFailed),
        crossed("no path but to itself", ["own"], errSecNotTrusted),
        crossed("good, bad", ["good", "bad"]),
        crossed("bad, good", ["bad", "good"], errSecSuccess, .otherPath),
        crossed("own, good", ["own", "good"], errSecSuccess, .otherPath),
        crossed("good, own", ["good", "own"]),
        crossed("bad, own, good", ["bad", "own", "good"], errSecSuccess, .otherPath),
        crossed("own, bad, good", ["own", "bad", "good"], errSecSuccess, .otherPath),
        crossed("good, bad, own", ["good", "bad", "own"]),
        crossed("over, good", ["over", "good"]),
        crossed("good, over", ["good", "over"]),
        crossed("over alone", ["over"], errSecCertificateExpired),
        crossed("soon, good", ["soon", "good"]),
        crossed("none, good", ["none", "good"], errSecSuccess, .otherPath),
        crossed("narrow, good", ["narrow", "good"], errSecSuccess, .otherPath),
        crossed("good, narrow", ["good", "narrow"]),
        crossed("narrow alone", ["narrow"], errSecInvalidName),
        crossed("code, good", ["code", "good"], errSecSuccess, .otherPath),
        crossed("twice, good", ["twice", "good"]),
        crossed("narrow, code, bad, good", ["narrow", "code", "bad", "good"], errSecSuccess, .otherPath),
        crossed("two anchors", ["bad"], anchors: ["root", "other"]),
        crossed("the authority itself is the anchor", [], anchors: ["own"]),
        crossed("an authority that is not self-signed is the anchor", [], anchors: ["good"]),
        crossed("the certificate itself is the anchor", [], anchors: ["leaf"]),
        crossed("bad anchor, good path", ["good"], anchors: ["narrow", "root"], errSecSuccess, .otherPath),
        crossed("the same twice", ["good", "good", "bad"]),
        crossed("the root is given, too", ["good", "root"]),
        crossed("the certificate is given twice", ["leaf", "good"]),
    ]
}
