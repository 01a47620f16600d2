/// What clients of an agent may have signed: log-ins to certain hosts, or signatures of one kind.
package struct AgentRule: Sendable, Equatable {
    /// What is wrong with a rule.
    package struct Problem: Error, Equatable {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// The names of the keys it is about; empty for all.
    package private(set) var keys: [String] = []
    /// The hosts of log-ins, by a name in `known_hosts` or a fingerprint; empty for a rule about signatures.
    package private(set) var hosts: [String] = []
    /// The users of log-ins; empty for all.
    package private(set) var users: [String] = []
    /// The namespaces of signatures, such as `git`.
    package private(set) var namespaces: [String] = []
    /// The fingerprints of ``hosts``. A host without any gets no log-in.
    package var fingerprints: Set<String> = []

    /// Reads `login HOST,… [as USER,…] [with KEY,…]` or `sign NAMESPACE,… [with KEY,…]`.
    package init(_ text: String) throws(Problem) {
        var words = text.split { " \n\t".contains($0) }.map(String.init)[...]
        let kind = words.popFirst()
        func list(after word: String) throws(Problem) -> [String] {
            let values = words.popFirst()?.split(separator: ",").map(String.init) ?? []
            guard !values.isEmpty else { throw Problem(description: "ends after '\(word)'") }
            return values
        }
        switch kind {
        case "login": hosts = try list(after: "login")
        case "sign": namespaces = try list(after: "sign")
        default: throw Problem(description: "does not begin with 'login HOST' or 'sign NAMESPACE'")
        }
        while let word = words.popFirst() {
            switch word {
            case "as" where kind == "login" && users.isEmpty: users = try list(after: word)
            case "with" where keys.isEmpty: keys = try list(after: word)
            default:
                throw Problem(
                    description:
                        "has the word '\(word)' there: after 'login HOST' come 'as USER' and 'with KEY', after "
                        + "'sign NAMESPACE' comes 'with KEY'")
            }
        }
        fingerprints = Set(hosts.filter { $0.hasPrefix("SHA256:") })
    }

    /// Whether it lets clients see a key.
    package func isAbout(key: String) -> Bool { keys.isEmpty || Self.has(key, in: keys) }

    /// By bytes: Swift takes some texts for equal that have different ones.
    private static func has(_ text: String, in list: [String]) -> Bool {
        list.contains { $0.utf8.elementsEqual(text.utf8) }
    }

    /// Whether a signature may be made.
    ///
    /// A log-in needs a session that the host at its other end has signed, as ``BoundHost`` has it: a client that does
    /// not say where it logs in gets no signature. Nor does one that a host asks for to whom the agent was forwarded.
    ///
    /// - Parameters:
    ///   - key: The name of the key.
    ///   - asker: The host that asks; nil for a program on this machine.
    package func allows(_ purpose: SignaturePurpose, with key: String, from asker: BoundHost?) -> Bool {
        guard isAbout(key: key), asker == nil else { return false }
        return switch purpose {
        case .login(let user, let host?):
            !host.isForwarded && fingerprints.contains(host.fingerprint) && (users.isEmpty || Self.has(user, in: users))
        case .data(let namespace): Self.has(namespace, in: namespaces)
        case .login(_, nil), .other: false
        }
    }
}
