import FoundationEssentials

/// The rules of a project, `.keychain-broker.toml`.
///
/// A rule of it is a ``BrokerRule``, made of the same parts as one on a command line.
package struct RulesFile: Sendable, Equatable {
    /// The name of the file in the folder of the project.
    package static let name = ".keychain-broker.toml"
    /// The only version that there is.
    package static let version = 1
    /// The most rules.
    package static let mostRules = 100

    /// The folder of a file of this name; the file itself if it has another name.
    package static func place(of path: String) -> String {
        let ending = "/" + name
        return path.hasSuffix(ending) && path != ending ? String(path.dropLast(ending.count)) : path
    }

    package var others: BrokerSettings.Others
    package var rules: [BrokerRule]

    /// - Throws: ``BrokerRule/Problem``, which says what the file has, as in "rule 2 has …".
    package init(_ members: [FileValue.Member], now: Date = Date()) throws(BrokerRule.Problem) {
        let table = try FileTable("it", members, known: ["others", "rule", "version"])
        guard case .number(let version)? = table["version"] else {
            throw BrokerRule.Problem("it does not say 'version = \(Self.version)' before the first rule")
        }
        guard version == Self.version else {
            throw BrokerRule.Problem(
                "it has version \(version), and this keychain knows \(Self.version) alone: install a newer one")
        }
        others = .refuse
        if let word = try table.text("others") {
            guard let known = BrokerSettings.Others(rawValue: word) else {
                throw BrokerRule.Problem("it has others = \"\(word)\": use refuse, inspect or tunnel")
            }
            others = known
        }
        guard case .list(let list)? = table["rule"], !list.isEmpty else {
            throw BrokerRule.Problem("it has no rule: write [[rule]] on a line, and the rule below it")
        }
        guard list.count <= Self.mostRules else {
            throw BrokerRule.Problem("it has \(list.count) rules, and at most \(Self.mostRules) are read")
        }
        rules = []
        for (index, value) in list.enumerated() {
            rules.append(try Self.rule(value, "rule \(index + 1)", now))
        }
    }

    private static func rule(
        _ value: FileValue, _ place: String, _ now: Date
    ) throws(BrokerRule.Problem) -> BrokerRule {
        guard case .table(let members) = value else {
            throw BrokerRule.Problem("\(place) is \(value.kind): write [[rule]], and the rule below it")
        }
        let table = try FileTable(
            place, members,
            known: ["ask", "at", "in", "keeps", "methods", "secret", "times", "to", "until", "variable"])
        guard let variable = try table.text("variable") else { throw table.lacks("variable", "\"NAME\"") }
        guard let secret = try table.text("secret") else {
            throw table.lacks("secret", "\"keychain://SERVICE/ACCOUNT\"")
        }
        let servers = try table.texts("to") ?? []
        guard !servers.isEmpty else { throw table.lacks("to", "\"https://HOST\"") }
        do throws(BrokerRule.Problem) {
            var rule = BrokerRule(variable: variable, reference: secret)
            let address = try table.text("at")
            for server in servers {
                try rule.add(server: server)
                if let address { try rule.dial(address) }
            }
            for name in try table.texts("in") ?? [] { try rule.add(place: name) }
            for name in try table.texts("methods") ?? [] { try rule.add(method: name) }
            for name in try table.texts("keeps") ?? [] { try rule.keep(name) }
            if let value = table["times"] {
                guard case .number(let count) = value else { throw table.wrong("times", value, "a number") }
                try rule.limit(to: count)
            }
            if let text = try table.text("until") { try rule.end(at: text, now) }
            if let value = table["ask"] {
                guard case .flag(let isAsking) = value else { throw table.wrong("ask", value, "true or false") }
                rule.isAsking = isAsking
            }
            try rule.finish()
            return rule
        } catch {
            // What the parts of a rule say of themselves begins with what the rule has.
            throw error.description.hasPrefix(place) ? error : BrokerRule.Problem("\(place) \(error.description)")
        }
    }
}

/// A table of a file, each of whose keys is known.
private struct FileTable {
    private let place: String
    private let members: [FileValue.Member]

    init(_ place: String, _ members: [FileValue.Member], known: [String]) throws(BrokerRule.Problem) {
        self.place = place
        self.members = members
        var seen: Set<String> = []
        for member in members {
            guard known.contains(member.key) else {
                throw BrokerRule.Problem("\(place) has the key '\(member.key)': use \(known.joined(separator: ", "))")
            }
            guard seen.insert(member.key).inserted else {
                throw BrokerRule.Problem("\(place) has the key '\(member.key)' twice")
            }
        }
    }

    subscript(key: String) -> FileValue? { members.first { $0.key == key }?.value }

    func text(_ key: String) throws(BrokerRule.Problem) -> String? {
        guard let value = self[key] else { return nil }
        guard case .text(let text) = value else { throw wrong(key, value, "text in quotes") }
        return text
    }

    /// One text, or a list of some.
    func texts(_ key: String) throws(BrokerRule.Problem) -> [String]? {
        guard let value = self[key] else { return nil }
        if case .text(let text) = value { return [text] }
        guard case .list(let values) = value, !values.isEmpty else {
            throw wrong(key, value, "text in quotes, or a list of such")
        }
        var texts: [String] = []
        for value in values {
            guard case .text(let text) = value else { throw wrong(key, value, "text in quotes, or a list of such") }
            texts.append(text)
        }
        return texts
    }

    func wrong(_ key: String, _ value: FileValue, _ kind: String) -> BrokerRule.Problem {
        BrokerRule.Problem("\(place) has \(value.kind) as '\(key)': write \(kind)")
    }

    func lacks(_ key: String, _ example: String) -> BrokerRule.Problem {
        BrokerRule.Problem("\(place) does not say '\(key)': add \(key) = \(example)")
    }
}
