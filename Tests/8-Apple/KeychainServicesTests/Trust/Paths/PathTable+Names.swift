import Foundation
import KeychainServices
import TestSupport

extension PathTable {
    private static func host(
        _ names: [String], _ host: String?, constraints: MadeExtension? = nil, _ status: OSStatus,
        _ difference: PathDifference? = nil
    ) -> PathCase {
        PathCase(
            "\(names.joined(separator: ", ")) for \(host ?? "nobody")",
            middle: authority + (constraints.map { [$0] } ?? []),
            leaf: [
                MadeExtension("2.5.29.17", DERValue.sequence(names.map { DERValue.node(0x82, Data($0.utf8)) })),
                .uses(.server),
            ],
            policy: .server(host), status, difference)
    }

    private static func address(_ bytes: [UInt8], _ host: String, _ status: OSStatus) -> PathCase {
        PathCase(
            "\(bytes) for \(host)", leaf: [.names(.address(bytes)), .uses(.server)], policy: .server(host), status)
    }

    /// The names of hosts.
    static let hosts: [PathCase] = [
        host(["example.com"], nil, errSecSuccess),
        host(["EXAMPLE.com"], "example.com", errSecSuccess),
        host(["example.com"], "EXAMPLE.COM", errSecSuccess),
        host(["example.org"], "example.com", errSecHostNameMismatch),
        host(["example.org", "example.com"], "example.com", errSecSuccess),
        host(["example.com.evil.org"], "example.com", errSecHostNameMismatch),
        host(["ample.com"], "example.com", errSecHostNameMismatch),
        host(["*.example.com"], "www.example.com", errSecSuccess),
        host(["*.example.com"], "example.com", errSecHostNameMismatch),
        host(["*.example.com"], "a.b.example.com", errSecHostNameMismatch),
        host(["www.*.com"], "www.example.com", errSecHostNameMismatch),
        host(["w*.example.com"], "www.example.com", errSecHostNameMismatch, .partialWildcard),
        host(["*w.example.com"], "www.example.com", errSecHostNameMismatch, .partialWildcard),
        host(["*"], "example", errSecHostNameMismatch),
        host(["*.com"], "example.com", errSecHostNameMismatch),
        host(["*.co.uk"], "example.co.uk", errSecHostNameMismatch, .publicSuffix),
        host(["*.co.uk"], "EXAMPLE.CO.UK", errSecHostNameMismatch, .publicSuffix),
        host(["*.com.au"], "example.com.au", errSecHostNameMismatch, .publicSuffix),
        host(["*.ac.jp"], "example.ac.jp", errSecHostNameMismatch, .publicSuffix),
        host(["*.co.uk", "example.co.uk"], "example.co.uk", errSecSuccess),
        host(["*.example.co.uk"], "www.example.co.uk", errSecSuccess),
        host(["*.github.io"], "example.github.io", errSecSuccess),
        host(["example.com\0.evil.org"], "example.com", errSecHostNameMismatch),
        host(["*.*.example.com"], "a.b.example.com", errSecHostNameMismatch),
        PathCase(
            "a host that is a common name alone", leaf: [.uses(.server)], errSecHostNameMismatch, .commonName
        ).named(["CN=example.com"]),
        PathCase(
            "a host that is a common name beside another", leaf: [.names(.host("a.example.com")), .uses(.server)],
            errSecHostNameMismatch
        ).named(["CN=example.com"]),
        PathCase(
            "a host that is a common name beside an address", leaf: [.names(.mail("a@b.c")), .uses(.server)],
            errSecHostNameMismatch, .commonName
        ).named(["CN=example.com"]),
        address([192, 0, 2, 7], "192.0.2.7", errSecSuccess),
        address([192, 0, 2, 7], "192.0.2.8", errSecHostNameMismatch),
        address([0x20, 1, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7], "2001:db8::7", errSecSuccess),
        address([0x20, 1, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7], "2001:db8::8", errSecHostNameMismatch),
        PathCase(
            "an address that is written as a host", leaf: [.names(.host("192.0.2.7")), .uses(.server)],
            policy: .server("192.0.2.7"), errSecHostNameMismatch),
    ]

    /// Constraints of the names of hosts.
    static let hostConstraints: [PathCase] = [
        host(
            ["example.com"], "example.com", constraints: .constraints(permitted: [.host("example.com")]), errSecSuccess),
        host(
            ["a.example.com"], "a.example.com", constraints: .constraints(permitted: [.host("example.com")]),
            errSecSuccess),
        host(
            ["badexample.com"], "badexample.com", constraints: .constraints(permitted: [.host("example.com")]),
            errSecInvalidName),
        host(
            ["example.com", "example.org"], "example.com", constraints: .constraints(permitted: [.host("example.com")]),
            errSecInvalidName),
        host(
            ["example.com", "example.org"], "example.com",
            constraints: .constraints(permitted: [.host("example.com"), .host("example.org")]), errSecSuccess),
        host(
            ["EXAMPLE.com"], "example.com", constraints: .constraints(permitted: [.host("example.COM")]), errSecSuccess),
        host(
            ["example.com"], "example.com", constraints: .constraints(excluded: [.host("example.com")]),
            errSecInvalidName),
        host(
            ["a.example.com"], "a.example.com", constraints: .constraints(excluded: [.host("example.com")]),
            errSecInvalidName),
        host(
            ["example.com"], "example.com", constraints: .constraints(excluded: [.host("a.example.com")]), errSecSuccess
        ),
        host(
            ["a.example.com"], "a.example.com",
            constraints: .constraints(permitted: [.host("example.com")], excluded: [.host("a.example.com")]),
            errSecInvalidName),
        host(
            ["*.example.com"], "a.example.com", constraints: .constraints(excluded: [.host("a.example.com")]),
            errSecInvalidName, .hostConstraint),
        host(
            ["*.example.com"], "A.example.com", constraints: .constraints(excluded: [.host("a.EXAMPLE.com")]),
            errSecInvalidName, .hostConstraint),
        host(
            ["*.example.com"], "b.example.com", constraints: .constraints(excluded: [.host("a.example.com")]),
            errSecSuccess),
        host(
            ["*.example.com"], "a.example.com", constraints: .constraints(permitted: [.host("a.example.com")]),
            errSecInvalidName),
        host(
            ["*.example.com"], "a.example.com", constraints: .constraints(permitted: [.host("example.com")]),
            errSecSuccess),
        host(
            ["*.example.com"], "a.example.com", constraints: .constraints(excluded: [.host("example.com")]),
            errSecInvalidName),
        PathCase(
            "a common name that is no host is not constrained",
            middle: authority + [.constraints(permitted: [.host("example.org")])], leaf: [], policy: .basic,
            errSecSuccess),
        PathCase(
            "a common name like a host is not constrained",
            middle: authority + [.constraints(permitted: [.host("example.org")])], leaf: [], policy: .basic,
            errSecSuccess,
            .commonName
        ).named(["CN=example.com"]),
        PathCase(
            "a client's common name like a host is not constrained",
            middle: authority + [.constraints(excluded: [.host("example.com")])], leaf: [.uses(.client)],
            policy: .client,
            errSecSuccess, .commonName
        ).named(["CN=example.com"]),
        PathCase(
            "an anchor's constraints are obeyed", root: authority + [.constraints(permitted: [.host("example.org")])],
            errSecInvalidName),
        PathCase(
            "an anchor's constraints are kept", root: authority + [.constraints(permitted: [.host("example.com")])],
            errSecSuccess),
        PathCase(
            "constraints of the certificate itself are for nobody",
            leaf: leaf + [.constraints(permitted: [.host("example.org")])], errSecSuccess),
        PathCase(
            "constraints that are not critical",
            middle: authority + [
                MadeExtension("2.5.29.30", MadeExtension.constraints(permitted: [.host("example.org")]).value)
            ], errSecInvalidName),
    ]

    private static func constrained(
        _ name: String, permitted: [GeneralName] = [], excluded: [GeneralName] = [], _ names: [GeneralName],
        subject: [String]? = nil, _ status: OSStatus, _ difference: PathDifference? = nil
    ) -> PathCase {
        let values = names.isEmpty ? [] : [MadeExtension("2.5.29.17", DERValue.sequence(names.map(\.encoded)))]
        return PathCase(
            name, middle: authority + [.constraints(permitted: permitted, excluded: excluded)], leaf: values,
            policy: .basic, status, difference
        ).named(subject)
    }

    /// Constraints of other names.
    static let otherConstraints: [PathCase] = [
        constrained("a mailbox", permitted: [.mail("a@b.c")], [.mail("a@b.c")], errSecSuccess),
        constrained("another mailbox", permitted: [.mail("a@b.c")], [.mail("d@b.c")], errSecInvalidName),
        constrained("a mailbox that is excluded", excluded: [.mail("a@b.c")], [.mail("a@b.c")], errSecInvalidName),
        constrained("a mail host", permitted: [.mail("b.c")], [.mail("a@b.c")], errSecSuccess),
        constrained("a mail host in capitals", permitted: [.mail("B.c")], [.mail("a@b.C")], errSecSuccess),
        constrained("a mail host below", permitted: [.mail("b.c")], [.mail("a@d.b.c")], errSecInvalidName),
        constrained("a mail domain", permitted: [.mail(".b.c")], [.mail("a@d.b.c")], errSecSuccess),
        constrained("a mail domain itself", permitted: [.mail(".b.c")], [.mail("a@b.c")], errSecInvalidName),
        constrained("a mail host that is excluded", excluded: [.mail("b.c")], [.mail("a@b.c")], errSecInvalidName),
        constrained("a mail domain that is excluded", excluded: [.mail(".b.c")], [.mail("a@d.b.c")], errSecInvalidName),
        constrained("another host is excluded", excluded: [.mail("e.f")], [.mail("a@b.c")], errSecSuccess),
        constrained(
            "two signs: the first counts", permitted: [.mail("b.c")], [.mail("a@evil.org@b.c")], errSecInvalidName,
            .mail),
        constrained(
            "two signs in quotes: the first counts", permitted: [.mail("b.c")], [.mail("\"a@evil.org\"@b.c")],
            errSecInvalidName, .mail),
        constrained(
            "two signs and an excluded host", excluded: [.mail("b.c")], [.mail("a@evil.org@b.c")], errSecInvalidName),
        constrained(
            "two signs in the subject", permitted: [.mail("b.c")], [], subject: ["CN=a", "E=a@evil.org@b.c"],
            errSecInvalidName, .mail),
        constrained("mail in the subject", permitted: [.mail("b.c")], [], subject: ["CN=a", "E=a@b.c"], errSecSuccess),
        constrained(
            "other mail in the subject", permitted: [.mail("b.c")], [], subject: ["CN=a", "E=a@evil.org"],
            errSecInvalidName),
        constrained(
            "an excluded mailbox in other capitals", excluded: [.mail("Root@b.c")], [.mail("root@b.c")],
            errSecInvalidName,
            .mail),
        constrained("mail constraints and a host", permitted: [.mail("b.c")], [.host("example.com")], errSecSuccess),
        constrained("a resource", permitted: [.resource("b.c")], [.resource("http://b.c/d")], errSecSuccess),
        constrained(
            "a resource of another host", permitted: [.resource("b.c")], [.resource("http://e.f/d")], errSecInvalidName),
        constrained(
            "a resource of a domain", permitted: [.resource(".b.c")], [.resource("http://a.b.c:8/d")], errSecSuccess),
        constrained(
            "an excluded resource", excluded: [.resource("b.c")], [.resource("http://b.c/d")], errSecInvalidName),
        constrained(
            "an address in a network", permitted: [.address([192, 0, 2, 0, 255, 255, 255, 0])],
            [.address([192, 0, 2, 7])],
            errSecSuccess),
        constrained(
            "an address of another network", permitted: [.address([192, 0, 2, 0, 255, 255, 255, 0])],
            [.address([192, 0, 3, 7])], errSecInvalidName),
        constrained(
            "an address of an excluded network", excluded: [.address([192, 0, 2, 0, 255, 255, 255, 0])],
            [.address([192, 0, 2, 7])], errSecInvalidName),
        constrained("a subject below", permitted: [.directory(["O=a"])], [], subject: ["O=a", "CN=b"], errSecSuccess),
        constrained(
            "another subject", permitted: [.directory(["O=a"])], [], subject: ["O=c", "CN=b"], errSecInvalidName),
        constrained(
            "an excluded subject", excluded: [.directory(["O=a"])], [], subject: ["O=a", "CN=b"], errSecInvalidName),
        constrained(
            "a directory name below", permitted: [.directory(["O=a"])], [.directory(["O=a", "CN=d"])],
            subject: ["O=a", "CN=b"], errSecSuccess),
        constrained(
            "another directory name", permitted: [.directory(["O=a"])], [.directory(["O=c", "CN=d"])],
            subject: ["O=a", "CN=b"], errSecInvalidName),
        constrained(
            "a registered name that is permitted", permitted: [.registered("1.2.3")], [], errSecInvalidName,
            .constraintKind),
        constrained(
            "a registered name that is excluded", excluded: [.registered("1.2.3")], [.host("example.com")],
            errSecInvalidName, .constraintKind),
        constrained(
            "another kind of name", permitted: [.other("1.3.6.1.4.1.311.20.2.3", "a")], [.host("example.com")],
            errSecInvalidName, .constraintKind),
        constrained(
            "another kind of name, which is there", permitted: [.other("1.3.6.1.4.1.311.20.2.3", "a")],
            [.other("1.3.6.1.4.1.311.20.2.3", "a")], errSecInvalidName),
        PathCase(
            "a registered name, not critical",
            middle: authority + [
                MadeExtension("2.5.29.30", MadeExtension.constraints(permitted: [.registered("1.2.3")]).value)
            ], errSecSuccess),
        PathCase(
            "a registered name of an anchor", root: authority + [.constraints(permitted: [.registered("1.2.3")])],
            errSecSuccess),
    ]
}

extension PathCase {
    /// The same, where the certificate in question has this subject.
    func named(_ subject: [String]?) -> PathCase {
        var copy = self
        for place in copy.members.indices where copy.members[place].name == "leaf" {
            copy.members[place].subject = subject
        }
        return copy
    }
}
