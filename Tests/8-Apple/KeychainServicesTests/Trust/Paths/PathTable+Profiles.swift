import Foundation
import KeychainServices
import TestSupport

extension PathTable {
    private static func subject(_ attributes: [String], _ name: String, _ host: String = "example.com") -> PathCase {
        PathCase(name, leaf: [.names(.host(host)), .uses(.server)], policy: .server(host), errSecSuccess)
            .named(attributes)
    }

    private static func serial(_ name: String, _ bytes: [UInt8]) -> PathCase {
        PathCase(name, errSecSuccess) { $0.serialBytes = Data(bytes) }
    }

    /// What RFC 5280 and the CA/Browser Forum ask of authorities when they issue certificates, and what Apple's systems
    /// do not ask when they evaluate one.
    static let profiles: [PathCase] = [
        serial("serial number 0", [0]),
        serial("serial number -1", [0xFF]),
        serial("a negative serial number of 20 bytes", [0x80] + [UInt8](repeating: 7, count: 19)),
        serial("a serial number of 20 bytes", [UInt8](repeating: 7, count: 20)),
        serial("a serial number of 21 bytes", [UInt8](repeating: 7, count: 21)),
        serial("a serial number of 37 bytes", [UInt8](repeating: 7, count: 37)),
        PathCase(
            "a critical name of the own key", leaf: leaf + [MadeExtension.key(1).critical], errSecSuccess,
            .critical),
        PathCase(
            "a critical name of an authority's key",
            middle: authority + [MadeExtension.key(1).critical], leaf: leaf + [.issuerKey(1)], errSecSuccess, .critical),
        PathCase(
            "a critical name of the issuer's key",
            middle: authority + [.key(1)], leaf: leaf + [MadeExtension.issuerKey(1).critical], errSecSuccess, .critical),
        PathCase("an authority that names its key, and nobody that asks", middle: authority + [.key(1)], errSecSuccess),
        PathCase("an anchor that names another key", root: authority + [.key(1), .issuerKey(2)], errSecSuccess),
        PathCase("an anchor that names no key of its own", root: authority + [.issuerKey(2)], errSecSuccess),
        PathCase(
            "an anchor that names an issuer and a number",
            root: authority + [
                .key(1),
                MadeExtension(
                    "2.5.29.35",
                    DERValue.sequence(
                        DERValue.node(0x80, Data([1])),
                        DERValue.node(0xA1, DERValue.node(0xA4, DERValue.name(["CN=somebody"]))),
                        DERValue.node(0x82, Data([1])))),
            ], errSecSuccess),
        PathCase(
            "basicConstraints of an anchor that are not critical",
            root: [MadeExtension("2.5.29.19", DERValue.hex("30 03 01 01 FF")), .usage(.certificates)], errSecSuccess),
        PathCase(
            "policyConstraints that are not critical",
            middle: authority + [
                MadeExtension("2.5.29.36", MadeExtension.policyConstraints(mapping: 0).value)
            ], errSecSuccess),
        PathCase(
            "permitted and excluded names, of which there are none",
            middle: authority + [MadeExtension("2.5.29.30", DERValue.hex("30 04 A0 00 A1 00")).critical],
            errSecSuccess),
        PathCase(
            "a permitted domain with a dot", middle: authority + [.constraints(permitted: [.host(".example.com")])],
            leaf: [.names(.host("a.example.com")), .uses(.server)], policy: .server("a.example.com"), errSecSuccess),
        PathCase(
            "the host of a permitted domain with a dot",
            middle: authority + [.constraints(permitted: [.host(".example.com")])], errSecInvalidName),
        PathCase(
            "a permitted name beside one that begins with a dot",
            middle: authority + [.constraints(permitted: [.host("example.com")])],
            leaf: [.names(.host(".example.com"), .host("example.com")), .uses(.server)], errSecSuccess),
        PathCase(
            "an authority that may not certify itself",
            middle: authority + [.names(.host("example.org")), .constraints(permitted: [.host("example.com")])],
            errSecSuccess),
        subject(["CN=example.org"], "a common name that is another host"),
        subject(["CN=EXAMPLE.com"], "a common name in capitals"),
        subject(["CN=xn--bcher-kva.example"], "a common name of another host in Punycode"),
        subject(["CN=bücher.example"], "a common name in letters of its language", "xn--bcher-kva.example"),
        subject(["CN=0xC0.0x00.0x02.0x07"], "a common name that is an address in hexadecimal digits"),
        subject(["CN=192.000.002.007"], "a common name that is an address with zeros"),
        subject(["CN=2001:DB8:0:0:0:0:0:7"], "a common name that is a long address"),
        subject(["CN=a", "CN=b"], "two common names"),
        subject(["O=a"], "no common name"),
        PathCase(
            "uses of an anchor, critical", root: authority + [MadeExtension.uses(.server).critical], errSecSuccess),
        PathCase(
            "critical names beside a subject",
            leaf: [MadeExtension.names(.host("example.com")).critical, .uses(.server)], errSecSuccess),
        PathCase("an authority for a server itself", leaf: leaf + [.authority()], errSecSuccess),
        PathCase(
            "an authority for a server itself, which may not sign", leaf: leaf + [.authority(), .usage(.signature)],
            errSecSuccess),
    ]

    private static func host(
        _ name: String, _ status: OSStatus = errSecSuccess, _ difference: PathDifference? = nil, as title: String? = nil
    ) -> PathCase {
        PathCase(
            "\(title ?? name) as a host", leaf: [.names(.host(name)), .uses(.server)], policy: .server(name), status,
            difference)
    }

    private static let label = String(repeating: "a", count: 63)

    /// What the name of a host may look like (SecFrameworkIsDNSName; Apple, Security-61901).
    static let hostForms: [PathCase] = [
        host("localhost"), host("a_b.example.com"), host("_a.example.com"), host("1.example.com"), host("1a.2b"),
        host("a--b.example.com"), host("xn--bcher-kva.example"), host("a.b.c.d.e.f.g.example.com"),
        host("\(label).com", as: "a label of 63 bytes"),
        host("a\(label).com", errSecHostNameMismatch, .hostForm, as: "a label of 64 bytes"),
        host("\(label).\(label).\(label).\(String(label.dropLast(4))).b", as: "a name of 253 bytes"),
        host(
            "\(label).\(label).\(label).\(label).b", errSecHostNameMismatch, .hostForm, as: "a name of 257 bytes"),
        host("-a.example.com", errSecHostNameMismatch, .hostForm),
        host("a-.example.com", errSecHostNameMismatch, .hostForm),
        host("a..example.com", errSecHostNameMismatch, .hostForm),
        host("example.1", errSecHostNameMismatch, .hostForm),
        host("example._", errSecHostNameMismatch, .hostForm),
        host("a b.example.com", errSecHostNameMismatch, .hostForm),
        host("a@example.com", errSecHostNameMismatch, .hostForm),
        host("a/b.example.com", errSecHostNameMismatch, .hostForm),
        PathCase(
            "a name that is none beside one that is", leaf: [.names(.host("-a.b"), .host("a.b")), .uses(.server)],
            policy: .server("a.b"), errSecSuccess),
        PathCase(
            "a dot at the end of the host's name", leaf: leaf, policy: .server("example.com."), errSecSuccess,
            .hostDot),
        PathCase(
            "a dot at the end of the certificate's name", leaf: [.names(.host("example.com.")), .uses(.server)],
            errSecHostNameMismatch),
    ]
}
