import Access
import Broker
import CommandKit

/// Rules in words, for the person who decides about them. Whoever wrote the rules may want to deceive: nothing of them
/// moves the cursor or turns the direction of text.
enum RuleWords {
    /// What a file says, in lines.
    static func lines(_ file: RulesFile) throws(Failure) -> [String] {
        var lines = file.rules.map(sentence)
        switch file.others {
        case .refuse: lines.append("other servers: none can be reached")
        case .inspect: lines.append("other servers: requests pass without secrets, and are recorded")
        case .tunnel: lines.append("other servers: connections pass unread")
        }
        return lines
    }

    static func sentence(_ rule: BrokerRule) -> String {
        var parts = ["\(rule.variable.escapedForTerminal): the secret \(secret(rule.reference))"]
        for server in rule.destinations { parts.append("to \(address(server))") }
        if rule.login == nil {
            parts.append("in \(rule.places.map(\.name).joined(separator: ", "))")
            parts.append(rule.methods.isEmpty ? "any method" : "methods \(rule.methods.joined(separator: ", "))")
        }
        let kind = rule.login == nil ? "request" : "log-in"
        parts.append(
            rule.times.map { "at most \($0) \(kind)\($0 == 1 ? "" : "s") a run" } ?? "any number of \(kind)s")
        if let end = rule.end { parts.append("until \(end.escapedForTerminal)") }
        parts.append(rule.isAsking ? "a person is asked first" : "nobody is asked")
        return parts.joined(separator: "; ")
    }

    /// A short form for a question.
    static func short(_ rules: [BrokerRule]) -> String {
        rules.map { rule in
            "\(rule.variable) to \(rule.destinations.map(name).joined(separator: " and "))"
        }.joined(separator: ", ")
    }

    private static func name(_ server: BrokerDestination) -> String {
        guard server.login == nil else { return address(server) }
        return "\(server.isSecure ? "" : "http://")\(server.host)"
    }

    private static func secret(_ reference: String) -> String {
        guard let parsed = try? SecretReference(reference) else { return "'\(reference.escapedForTerminal)'" }
        let group = parsed.group.map { " in the group '\($0.escapedForTerminal)'" } ?? ""
        return "'\(parsed.account.escapedForTerminal)' of '\(parsed.service.escapedForTerminal)'\(group)"
    }

    private static func address(_ server: BrokerDestination) -> String {
        if let login = server.login {
            let dialled = server.address.map { ", at the address \($0)" } ?? ""
            let sent = login.sendsPassword ? ", WHICH MAY GET THE PASSWORD ITSELF" : ""
            return "\(login.url(of: server.host, server.port))\(dialled)\(sent)".escapedForTerminal
        }
        let path = server.path ?? "/*"
        let port = server.port == (server.isSecure ? 443 : 80) ? "" : ":\(server.port)"
        let host = server.host.contains(":") ? "[\(server.host)]" : server.host
        let clear = server.isSecure ? "" : ", IN CLEAR TEXT"
        let dialled = server.address.map { ", at the address \($0)" } ?? ""
        return "\(server.isSecure ? "https" : "http")://\(host)\(port)\(path)\(dialled)\(clear)".escapedForTerminal
    }
}

/// Words of a command that a person copies.
enum ShellWord {
    private static let plain = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./-_".unicodeScalars)

    /// Returns a word that each shell takes for the text; nil if it cannot be shown as it is.
    static func quoted(_ text: String) -> String? {
        guard text.escapedForTerminal == text, !text.isEmpty else { return nil }
        guard !text.unicodeScalars.allSatisfy(plain.contains) || text.hasPrefix("-") else { return text }
        return "'" + text.replacing("'", with: "'\\''") + "'"
    }
}
