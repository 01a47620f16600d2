import Foundation
import KeychainServices
import TestSupport

extension PathTable {
    /// What makes a certificate an authority.
    static let authorities: [PathCase] = [
        PathCase("in order", errSecSuccess),
        PathCase("in order, without a policy", policy: .basic, errSecSuccess),
        PathCase("in order, for a client", leaf: [.uses(.client)], policy: .client, errSecSuccess),
        PathCase("an anchor that signed it", middle: nil, errSecSuccess),
        PathCase(
            "an anchor without basicConstraints", root: [.usage(.certificates)], errSecNoBasicConstraints, .anchorForm),
        PathCase("an anchor without extensions, of version 3", root: [], errSecNoBasicConstraints),
        PathCase("an anchor that is no authority", root: [.noAuthority], errSecNoBasicConstraintsCA),
        PathCase(
            "an anchor that is no authority, without a policy", root: [.noAuthority], policy: .basic,
            errSecNoBasicConstraintsCA),
        PathCase("an anchor that may not sign", root: [.authority(), .usage(.lists)], errSecInvalidKeyUsageForPolicy),
        PathCase("an anchor without keyUsage", root: [.authority()], errSecSuccess),
        PathCase(
            "an authority without basicConstraints", middle: [.usage(.certificates)], errSecNoBasicConstraints),
        PathCase("an authority without extensions", middle: [], errSecNoBasicConstraints),
        PathCase("an authority that is none", middle: [.noAuthority], errSecNoBasicConstraintsCA),
        PathCase(
            "an authority that is none, but may sign", middle: [.noAuthority, .usage(.certificates)],
            errSecNoBasicConstraintsCA),
        PathCase(
            "an authority that may not sign", middle: [.authority(), .usage(.signature)], errSecInvalidKeyUsageForPolicy
        ),
        PathCase(
            "an authority that may sign lists alone", middle: [.authority(), .usage(.lists)],
            errSecInvalidKeyUsageForPolicy),
        PathCase(
            "an authority that may not sign, without a policy", middle: [.authority(), .usage(.signature)],
            policy: .basic, errSecInvalidKeyUsageForPolicy),
        PathCase("an authority without keyUsage", middle: [.authority()], errSecSuccess),
        PathCase(
            "an authority whose basicConstraints are not critical",
            middle: [MadeExtension("2.5.29.19", DERValue.hex("30 03 01 01 FF"))], errSecSuccess),
        version("an authority of version 1", ["middle"], errSecNoBasicConstraints),
        version("an authority of version 2", ["middle"], number: 2, errSecNoBasicConstraints),
        version("an anchor of version 1", ["root"], errSecSuccess),
        version("an authority and an anchor of version 1", ["root", "middle"], errSecNoBasicConstraintsCA),
        version("a certificate of version 1", ["leaf"], policy: .basic, errSecSuccess),
        version("a server of version 1", ["leaf"], errSecHostNameMismatch),
        PathCase(
            "a certificate that is an authority", leaf: leaf + authority, errSecSuccess, .keyUsage),
        PathCase("a certificate that may sign others", leaf: leaf + [.usage(.certificates)], errSecSuccess, .keyUsage),
        PathCase(
            "a certificate that may sign others, without a policy", leaf: [.usage(.certificates)], policy: .basic,
            errSecSuccess),
        PathCase("a certificate that may sign lists alone", leaf: leaf + [.usage(.lists)], errSecSuccess, .keyUsage),
        PathCase("a certificate that may sign", leaf: leaf + [.usage(.signature)], errSecSuccess),
        PathCase("a certificate that may encipher", leaf: leaf + [.usage(.encipherment)], errSecSuccess),
        PathCase(
            "a client that may encipher alone", leaf: [.uses(.client), .usage(.encipherment)], policy: .client,
            errSecSuccess, .keyUsage),
    ]

    private static func version(
        _ name: String, _ names: Set<String>, number version: Int = 1, policy: PathCase.Policy = .server("example.com"),
        _ status: OSStatus, _ difference: PathDifference? = nil
    ) -> PathCase {
        var entry = PathCase(name, policy: policy, status, difference)
        for place in entry.members.indices where names.contains(entry.members[place].name) {
            entry.members[place].change = { certificate in
                (certificate.version, certificate.extensions) = (version, [])
            }
        }
        return entry
    }

    /// A path of three authorities below the root.
    private static func long(
        _ name: String, root: Int? = nil, _ lengths: [Int?], selfIssued: Int? = nil, namesKeys: Bool = true,
        _ status: OSStatus
    ) -> PathCase {
        let root = PathCase.Member(name: "root", extensions: [.authority(length: root)])
        var members = [root]
        for (place, length) in lengths.enumerated() {
            var member = PathCase.Member(
                name: "authority \(place)", issuer: members[place].name, extensions: [.authority(length: length)])
            // It has the name of the one that signed it, and another key.
            if place == selfIssued { (member.namesake, member.key) = (members[place].name, 77) }
            if namesKeys {
                member.extensions.append(.key(UInt8(place + 1)))
                if place > 0 { member.extensions.append(.issuerKey(UInt8(place))) }
            }
            members.append(member)
        }
        let given = ["leaf"] + members.dropFirst().map(\.name)
        members.append(PathCase.Member(name: "leaf", issuer: members[lengths.count].name, extensions: leaf))
        return PathCase(name, members, given: given, status)
    }

    /// The length of a path.
    static let lengths: [PathCase] = [
        long("three authorities", [nil, nil, nil], errSecSuccess),
        long("an anchor that allows three", root: 3, [nil, nil, nil], errSecSuccess),
        long("an anchor that allows two", root: 2, [nil, nil, nil], errSecPathLengthConstraintExceeded),
        long("an anchor that allows none", root: 0, [nil], errSecPathLengthConstraintExceeded),
        long("an anchor that allows none, without any", root: 0, [], errSecSuccess),
        long("an authority that allows two", [2, nil, nil], errSecSuccess),
        long("an authority that allows one", [1, nil, nil], errSecPathLengthConstraintExceeded),
        long("an authority that allows none", [nil, 0, nil], errSecPathLengthConstraintExceeded),
        long("the last authority allows none", [nil, nil, 0], errSecSuccess),
        long("lengths that fall", root: 3, [2, 1, 0], errSecSuccess),
        long("an authority that allows more than the anchor", root: 1, [5, nil], errSecPathLengthConstraintExceeded),
        long("an authority that signed itself does not count", [1, nil, nil], selfIssued: 1, errSecSuccess),
        // Without the names of keys, libcrypto takes it for the root.
        long(
            "an authority that signed itself and names no key", [nil, nil, nil], selfIssued: 1, namesKeys: false,
            errSecNotSigner),
        long("a large number", [65_535, nil], errSecSuccess),
    ]

    private static func use(
        _ name: String, root: MadeExtension.Use? = nil, middle: MadeExtension.Use? = nil, leaf: [MadeExtension],
        _ policy: PathCase.Policy, _ status: OSStatus, _ difference: PathDifference? = nil
    ) -> PathCase {
        PathCase(
            name, root: authority + (root.map { [.uses($0)] } ?? []),
            middle: authority + (middle.map { [.uses($0)] } ?? []), leaf: [.names(.host("example.com"))] + leaf,
            policy: policy, status, difference)
    }

    /// What certificates may be used for.
    static let uses: [PathCase] = [
        use("a server without a use", leaf: [], .server(nil), errSecInvalidExtendedKeyUsage, .serverUse),
        use("a server for any use", leaf: [.uses(.any)], .server(nil), errSecInvalidExtendedKeyUsage),
        use("a server for any use and servers", leaf: [.uses(.any, .server)], .server(nil), errSecSuccess),
        use("a server for servers and clients", leaf: [.uses(.client, .server)], .server(nil), errSecSuccess),
        use("a server for clients", leaf: [.uses(.client)], .server(nil), errSecInvalidExtendedKeyUsage),
        use("a server for code", leaf: [.uses(.code)], .server(nil), errSecInvalidExtendedKeyUsage),
        use(
            "a server with Microsoft's use", leaf: [.uses(.microsoftServer)], .server(nil),
            errSecInvalidExtendedKeyUsage, .serverUse),
        use(
            "a server with Netscape's use", leaf: [.uses(.netscapeServer)], .server(nil),
            errSecInvalidExtendedKeyUsage, .serverUse),
        use(
            "a server whose use is critical", leaf: [MadeExtension.uses(.server).critical], .server(nil), errSecSuccess),
        use("a client without a use", leaf: [], .client, errSecSuccess),
        use("a client for any use", leaf: [.uses(.any)], .client, errSecSuccess, .use),
        use("a client for clients", leaf: [.uses(.client)], .client, errSecSuccess),
        use("a client for servers", leaf: [.uses(.server)], .client, errSecInvalidExtendedKeyUsage),
        use("a client for code", leaf: [.uses(.code)], .client, errSecInvalidExtendedKeyUsage),
        use("code without a policy", leaf: [.uses(.code)], .basic, errSecSuccess),
        use("nothing without a policy", leaf: [], .basic, errSecSuccess),
        use("an authority for servers", middle: .server, leaf: [.uses(.server)], .server(nil), errSecSuccess),
        use("an authority for any use", middle: .any, leaf: [.uses(.server)], .server(nil), errSecSuccess, .use),
        use(
            "an authority for clients", middle: .client, leaf: [.uses(.server)], .server(nil),
            errSecInvalidExtendedKeyUsage),
        use(
            "an authority for code", middle: .code, leaf: [.uses(.server)], .server(nil), errSecInvalidExtendedKeyUsage),
        use(
            "an authority with Microsoft's use", middle: .microsoftServer, leaf: [.uses(.server)], .server(nil),
            errSecSuccess),
        use("a client's authority for any use", middle: .any, leaf: [.uses(.client)], .client, errSecSuccess, .use),
        use(
            "a client's authority for servers", middle: .server, leaf: [.uses(.client)], .client,
            errSecInvalidExtendedKeyUsage),
        use("an authority for code, without a policy", middle: .code, leaf: [], .basic, errSecSuccess),
        use("an anchor for servers", root: .server, leaf: [.uses(.server)], .server(nil), errSecSuccess),
        use("an anchor for code", root: .code, leaf: [.uses(.server)], .server(nil), errSecSuccess, .use),
        use("a client's anchor for code", root: .code, leaf: [.uses(.client)], .client, errSecSuccess, .use),
    ]
}
