import Certificates
import Crypto
import Foundation
import TestSupport
import Testing

/// The rules for TLS servers below an anchor of the system. The tests have no key of such an anchor, so they ask the
/// rules.
struct SystemAnchorTests {
    private static let day = 86_400.0
    /// 1 September 2020, 1 June 2018 and 1 March 2018, 00:00 UTC.
    private static let (september2020, june2018, march2018) = (1_598_918_400.0, 1_527_811_200.0, 1_519_862_400.0)

    private func violation(
        from start: Double, seconds: Double, leaf: [MadeExtension] = PathTable.leaf, middle: [MadeExtension] = []
    ) throws -> PathRules.Violation? {
        let key = try P256.Signing.PrivateKey(rawRepresentation: Data(repeating: 1, count: 32))
        let begin = Date(timeIntervalSince1970: start)
        let members = [
            ("leaf", "middle", leaf, seconds), ("middle", "root", PathTable.authority + middle, 9_999 * Self.day),
            ("root", "root", PathTable.authority, 9_999 * Self.day),
        ]
        var rules = PathRules(
            chain: try members.map { name, issuer, extensions, seconds in
                var certificate = MadeCertificate(
                    subject: DERValue.name(["CN=\(name)"]), issuer: DERValue.name(["CN=\(issuer)"]), from: begin,
                    to: begin + seconds, publicKey: key.publicKey.derRepresentation)
                certificate.extensions = extensions
                return try Certificate(der: certificate.signed(with: key))
            })
        (rules.side, rules.isSystemAnchored) = (.server, true)
        return rules.violation()
    }

    @Test func howLongTheyAreValid() throws {
        for (start, days, seconds, wanted) in [
            (Self.september2020, 398, 0, nil), (Self.september2020, 398, 1, .longValidity),
            (Self.september2020, 825, 0, .longValidity), (Self.september2020 - 1, 825, 3_600, nil),
            (Self.september2020 - 1, 825, 3_601, .longValidity), (Self.june2018, 825, 3_600, nil),
            (Self.june2018, 826, 0, .longValidity), (Self.march2018, 826, 0, .longValidity),
            (Self.march2018 - 1, 3_650, 0, nil),
        ] as [(Double, Double, Double, PathRules.Violation?)] {
            let found = try violation(from: start, seconds: days * Self.day + seconds)
            #expect(found == wanted, "\(start): \(days) days and \(seconds) s")
        }
    }

    /// Below an anchor of the system, older certificates have to say that they are for servers, too.
    @Test func whatTheyAreFor() throws {
        let names = MadeExtension.names(.host("example.com"))
        for (leaf, middle, wanted) in [
            ([.uses(.server)], [], nil), ([], [], .noServerUse), ([.uses(.any)], [], .noServerUse),
            ([.uses(.client)], [], .wrongUse), ([.uses(.server)], [.uses(.any)], nil),
            ([.uses(.server)], [.uses(.server)], nil), ([.uses(.server)], [.uses(.microsoftServer)], .noServerUse),
            ([.uses(.server)], [.uses(.code)], .wrongUse),
        ] as [([MadeExtension], [MadeExtension], PathRules.Violation?)] {
            let found = try violation(
                from: Self.june2018, seconds: 100 * Self.day, leaf: [names] + leaf, middle: middle)
            #expect(found == wanted, "\(leaf) \(middle)")
        }
    }
}
