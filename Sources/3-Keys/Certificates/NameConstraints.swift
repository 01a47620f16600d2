import SwiftASN1

/// The names that an authority may certify, and those that it may not (RFC 5280, 4.2.1.10): as far as libcrypto and
/// Apple's systems judge them differently.
package struct NameConstraints: Hashable, Sendable {
    /// The names of hosts below which an authority may not certify any.
    package private(set) var excludedHosts: [String] = []
    /// Mail addresses, hosts, and domains with a dot at the start.
    package private(set) var permittedMail: [String] = []
    package private(set) var excludedMail: [String] = []
    /// How many names there are of each.
    package private(set) var permittedCount = 0
    package private(set) var excludedCount = 0
    /// Whether the extension is critical and constrains names of a kind that nobody compares.
    package private(set) var hasUnknownKind = false

    init() {}

    /// - Parameter nodes: The permitted and the excluded subtrees.
    init(_ nodes: [ASN1Node], isCritical: Bool, as part: String) throws(CertificateError) {
        for node in nodes {
            let isExcluded = node.identifier == .context(1)
            guard isExcluded || node.identifier == .context(0), case .constructed(let subtrees) = node.content else {
                throw CertificateError(malformed: part)
            }
            for subtree in subtrees {
                if isExcluded { excludedCount += 1 } else { permittedCount += 1 }
                guard let base = try subtree.members(of: .sequence, as: part).first else {
                    throw CertificateError(malformed: part)
                }
                try read(base, isExcluded, isCritical, as: part)
            }
        }
    }

    private mutating func read(
        _ base: ASN1Node, _ isExcluded: Bool, _ isCritical: Bool, as part: String
    ) throws(CertificateError) {
        func text() throws(CertificateError) -> String {
            String(decoding: try base.bytes(of: base.identifier, as: part), as: UTF8.self).lowercased()
        }
        switch base.identifier {
        case .context(1): try isExcluded ? excludedMail.append(text()) : permittedMail.append(text())
        case .context(2): if isExcluded { excludedHosts.append(try text()) }
        // Names, addresses of resources, and those of machines.
        case .context(4), .context(6), .context(7): break
        default: if isCritical { hasUnknownKind = true }
        }
    }

    /// Whether the authority may not certify a host.
    func excludes(host: String) -> Bool {
        let host = host.lowercased()
        return excludedHosts.contains { excluded in
            let excluded = excluded.drop { $0 == "." }
            return excluded.isEmpty || host == excluded || host.hasSuffix(".\(excluded)")
        }
    }

    /// Whether the authority may certify a mail address.
    func permits(mail address: String) -> Bool {
        let address = address.lowercased()
        return (permittedMail.isEmpty || permittedMail.contains { Self.isMail(address, in: $0) })
            && !excludedMail.contains { Self.isMail(address, in: $0) }
    }

    /// SecRFC822NameMatch (Apple, Security-61901). What follows the first `@` of an address is the host. For libcrypto,
    /// it is what follows the last.
    private static func isMail(_ address: String, in constraint: String) -> Bool {
        if constraint.isEmpty { return true }
        if constraint.contains("@") { return address == constraint }
        guard let at = address.firstIndex(of: "@") else { return false }
        let host = address[address.index(after: at)...]
        return constraint.hasPrefix(".") ? !host.hasPrefix(".") && host.hasSuffix(constraint) : host == constraint
    }
}
