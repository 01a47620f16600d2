import Foundation
import KeychainServices
import TestSupport

extension PathTable {
    /// The value of an extension that cannot be read.
    private struct Malformed {
        var name: String
        var identifier: String
        /// Hexadecimal digits.
        var value: String
        /// Whether OpenSSL refuses it in an authority that is not critical, and in a certificate that is.
        var isRefused = (inAuthority: true, critical: true)
    }

    private static let malformed = [
        Malformed(
            name: "basicConstraints with TRUE as 01", identifier: "2.5.29.19", value: "30 03 01 01 01",
            isRefused: (false, false)),
        Malformed(
            name: "basicConstraints with a byte after the end", identifier: "2.5.29.19", value: "30 03 01 01 FF 00",
            isRefused: (false, false)),
        Malformed(
            name: "basicConstraints with a third member", identifier: "2.5.29.19",
            value: "30 08 01 01 FF 02 01 00 05 00"),
        Malformed(name: "a negative length", identifier: "2.5.29.19", value: "30 06 01 01 FF 02 01 FF"),
        Malformed(name: "basicConstraints that are no sequence", identifier: "2.5.29.19", value: "04 00"),
        Malformed(name: "keyUsage without bits", identifier: "2.5.29.15", value: "03 01 00"),
        Malformed(name: "keyUsage that is no bits", identifier: "2.5.29.15", value: "02 01 04"),
        Malformed(
            name: "keyUsage with a byte after the end", identifier: "2.5.29.15", value: "03 02 02 04 00",
            isRefused: (false, false)),
        Malformed(name: "an empty use", identifier: "2.5.29.37", value: "30 00", isRefused: (true, false)),
        Malformed(name: "a use that is a number", identifier: "2.5.29.37", value: "30 03 02 01 01"),
        Malformed(
            name: "a use with a byte after the end", identifier: "2.5.29.37",
            value: "30 0A 06 08 2B 06 01 05 05 07 03 01 00", isRefused: (false, false)),
        Malformed(name: "no alternative names", identifier: "2.5.29.17", value: "30 00", isRefused: (false, false)),
        Malformed(name: "alternative names of no kind", identifier: "2.5.29.17", value: "30 02 05 00"),
        Malformed(
            name: "an alternative name with a byte after the end", identifier: "2.5.29.17", value: "30 03 82 01 61 00",
            isRefused: (false, false)),
        Malformed(name: "a key identifier that is a number", identifier: "2.5.29.14", value: "02 01 01"),
        Malformed(
            name: "an issuer without its number", identifier: "2.5.29.35", value: "30 04 A1 02 82 00",
            isRefused: (false, true)),
        Malformed(name: "an authority's key that is no sequence", identifier: "2.5.29.35", value: "04 00"),
        Malformed(name: "no name constraints", identifier: "2.5.29.30", value: "30 00", isRefused: (false, false)),
        Malformed(name: "name constraints of no kind", identifier: "2.5.29.30", value: "30 02 05 00"),
        Malformed(name: "no points of lists", identifier: "2.5.29.31", value: "30 00", isRefused: (false, false)),
        Malformed(name: "points that are no sequence", identifier: "2.5.29.31", value: "04 00"),
        Malformed(name: "a point with reasons alone", identifier: "2.5.29.31", value: "30 06 30 04 81 02 01 02"),
        Malformed(
            name: "addresses that are no sequence", identifier: "1.3.6.1.5.5.7.1.1", value: "04 00",
            isRefused: (false, true)),
        Malformed(name: "no addresses", identifier: "1.3.6.1.5.5.7.1.1", value: "30 00", isRefused: (false, true)),
        Malformed(
            name: "an address without a place", identifier: "1.3.6.1.5.5.7.1.1", value: "30 04 30 02 05 00",
            isRefused: (false, true)),
        Malformed(
            name: "a responder that is a host", identifier: "1.3.6.1.5.5.7.1.1",
            value: "30 0F 30 0D 06 08 2B 06 01 05 05 07 30 01 82 01 61", isRefused: (false, true)),
        Malformed(name: "no policies", identifier: "2.5.29.32", value: "30 00", isRefused: (false, false)),
        Malformed(name: "a policy that is null", identifier: "2.5.29.32", value: "30 02 05 00"),
        Malformed(name: "a policy that is a number", identifier: "2.5.29.32", value: "30 05 30 03 02 01 01"),
        Malformed(name: "policies that are garbage", identifier: "2.5.29.32", value: "DE AD BE EF"),
        Malformed(name: "no mappings", identifier: "2.5.29.33", value: "30 00", isRefused: (false, false)),
        Malformed(
            name: "a mapping to nothing", identifier: "2.5.29.33", value: "30 06 30 04 06 02 2A 03",
            isRefused: (false, false)),
        Malformed(name: "constraints of policies that are null", identifier: "2.5.29.36", value: "05 00"),
        Malformed(name: "a negative constraint of policies", identifier: "2.5.29.36", value: "30 03 80 01 FF"),
        Malformed(name: "no number for any policy", identifier: "2.5.29.54", value: "30 00", isRefused: (false, false)),
        Malformed(
            name: "a negative number for any policy", identifier: "2.5.29.54", value: "02 01 FF",
            isRefused: (false, false)),
    ]

    /// Extensions that cannot be read, or are there twice.
    static let forms: [PathCase] =
        malformed.flatMap { bad in
            let value = MadeExtension(bad.identifier, DERValue.hex(bad.value))
            return [
                PathCase(
                    "\(bad.name), of an authority", middle: authority.without(bad.identifier) + [value],
                    errSecUnknownCertExtension, bad.isRefused.inAuthority ? nil : .form),
                PathCase(
                    "\(bad.name), critical", leaf: leaf.without(bad.identifier) + [value.critical], policy: .basic,
                    errSecUnknownCertExtension, bad.isRefused.critical ? nil : .form),
            ]
        } + [
            PathCase(
                "an extension twice, of an authority", middle: authority + [.usage(.certificates)],
                errSecCertificateDuplicateExtension),
            PathCase("an extension twice", leaf: leaf + leaf, errSecCertificateDuplicateExtension),
            PathCase(
                "an unknown extension twice", leaf: leaf + [unknown, unknown], errSecCertificateDuplicateExtension,
                .form),
            PathCase(
                "an anchor with an extension twice", root: authority + [.usage(.certificates)],
                errSecCertificateDuplicateExtension),
            PathCase(
                "an anchor whose names cannot be read",
                root: authority + [MadeExtension("2.5.29.17", DERValue.hex("0400"))],
                errSecUnknownCertExtension),
            PathCase(
                "a resource that is a value of its own",
                leaf: [.uses(.server), MadeExtension("2.5.29.17", DERValue.hex("30 05 A6 03 16 01 61"))],
                policy: .server(nil), errSecSuccess),
        ]

    private static let unknown = MadeExtension("1.2.3.4", DERValue.hex("0500"))

    /// Extensions that have to be understood.
    static let criticals: [PathCase] = [
        PathCase("something unknown", leaf: leaf + [unknown], errSecSuccess),
        PathCase("something critical", leaf: leaf + [unknown.critical], errSecUnknownCriticalExtensionFlag),
        PathCase(
            "something critical, without a policy", leaf: [unknown.critical], policy: .basic,
            errSecUnknownCriticalExtensionFlag),
        PathCase(
            "something critical in an authority", middle: authority + [unknown.critical],
            errSecUnknownCriticalExtensionFlag),
        PathCase(
            "something critical in an anchor", root: authority + [unknown.critical], errSecSuccess, .anchorCritical),
        PathCase(
            "a critical name of the issuer",
            leaf: leaf + [MadeExtension("2.5.29.18", DERValue.hex("3003820161")).critical],
            errSecSuccess, .critical),
        PathCase(
            "a critical period of the key",
            leaf: leaf + [MadeExtension("2.5.29.16", DERValue.hex("3000")).critical], errSecSuccess, .critical),
        PathCase(
            "critical addresses",
            leaf: leaf + [
                MadeExtension("1.3.6.1.5.5.7.1.1", DERValue.hex("300F300D06082B0601050507300186 0161")).critical
            ], errSecSuccess, .critical),
        PathCase(
            "a critical mark that nobody asks",
            leaf: leaf + [
                MadeExtension("1.3.6.1.5.5.7.48.1.5", DERValue.hex("0500")).critical
            ], errSecSuccess),
        PathCase(
            "critical names", leaf: [MadeExtension.names(.host("example.com")).critical, .uses(.server)], errSecSuccess),
        PathCase(
            "critical usage", middle: [.authority(), MadeExtension.usage(.certificates).critical], errSecSuccess),
        PathCase("critical policies", leaf: leaf + [MadeExtension.policies("1.2.3").critical], errSecSuccess),
    ]

    private static func nameless(
        _ name: String, _ member: String, leaf: [MadeExtension] = leaf,
        policy: PathCase.Policy = .server("example.com"),
        _ status: OSStatus, _ difference: PathDifference? = nil
    ) -> PathCase {
        var entry = PathCase(name, leaf: leaf, policy: policy, status, difference)
        for place in entry.members.indices where entry.members[place].name == member {
            entry.members[place].subject = []
        }
        return entry
    }

    private static let critical = [MadeExtension.names(.host("example.com")).critical, .uses(.server)]

    /// Certificates without a name.
    static let subjects: [PathCase] = [
        nameless("no subject", "leaf", errSecInvalidSubjectName, .subject),
        nameless("no subject, without a policy", "leaf", policy: .basic, errSecInvalidSubjectName, .subject),
        nameless("no subject and no names", "leaf", leaf: [], policy: .basic, errSecInvalidSubjectName, .subject),
        nameless("no subject, and a critical name", "leaf", leaf: critical, errSecSuccess),
        nameless(
            "no subject, a critical name, and an authority", "leaf", leaf: critical + authority,
            errSecInvalidSubjectName),
        nameless("an authority without a subject", "middle", errSecInvalidSubjectName),
        nameless("an anchor without a subject", "root", errSecInvalidSubjectName, .subject),
    ]
}

extension [MadeExtension] {
    /// The others.
    fileprivate func without(_ identifier: String) -> [MadeExtension] { filter { $0.identifier != identifier } }
}
