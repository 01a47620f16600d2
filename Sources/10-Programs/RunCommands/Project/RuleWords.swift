import Access
import Broker
import Bytes
import CommandKit

/// Rules in words, for the person who decides about them. The author of the rules may want to deceive this person. So
/// characters that move the cursor, turn the direction of text or cannot be seen are written as numbers.
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
        var parts = ["\(shown(rule.variable)): the secret \(secret(rule.reference))"]
        for server in rule.destinations { parts.append("to \(address(server))") }
        if rule.login == nil {
            parts.append("in \(rule.places.map(\.name).joined(separator: ", "))")
            parts.append(rule.methods.isEmpty ? "any method" : "methods \(rule.methods.joined(separator: ", "))")
        }
        let kind = rule.login == nil ? "request" : "log-in"
        parts.append(
            rule.times.map { "at most \($0) \(kind)\($0 == 1 ? "" : "s") a run" } ?? "any number of \(kind)s")
        if !rule.keeps.isEmpty {
            parts.append("placeholders for the tokens \(shown(rule.keeps.joined(separator: ", "))) in its answers")
        }
        if let end = rule.end { parts.append("until \(shown(end))") }
        parts.append(rule.isAsking ? "a person is asked first" : "nobody is asked")
        return parts.joined(separator: "; ")
    }

    /// What the question for the passcode says: each server once, and then where the file is.
    ///
    /// A question has little room, and long rules can fill it. So it says how many servers it leaves out.
    static func question(_ rules: [BrokerRule], _ path: String) -> String {
        var seen: Set<String> = []
        let names = rules.flatMap(\.destinations).map(name).filter { seen.insert($0).inserted }
        var (text, count) = ("", 0)
        for name in names {
            let longer = count == 0 ? name : "\(text), \(name)"
            guard longer.unicodeScalars.count <= 180 else { break }
            (text, count) = (longer, count + 1)
        }
        if case let rest = names.count - count, rest > 0 {
            let more = count == 0 ? "" : " and "
            text += "\(more)\(rest) \(count == 0 ? "" : "more ")server\(rest == 1 ? "" : "s"), not shown here"
        }
        return "approve rules: secrets to \(text); in \(shortened(path))"
    }

    private static func name(_ server: BrokerDestination) -> String {
        let dialled = server.address.map { " at \($0)" } ?? ""
        if let login = server.login { return shown("\(login.url(of: server.host, server.port))\(dialled)") }
        return shown("\(server.isSecure ? "" : "http://")\(hostAndPort(server))\(dialled)")
    }

    /// The folder of the file, or the file if it has another name than all: the beginning and the end.
    private static func shortened(_ path: String) -> String {
        let place = RulesFile.place(of: path)
        let scalars = Array(shown(place).unicodeScalars)
        guard scalars.count > 64 else { return shown(place) }
        var text = String.UnicodeScalarView()
        text += scalars.prefix(31)
        text.append("…")
        text += scalars.suffix(32)
        return String(text)
    }

    private static func secret(_ reference: String) -> String {
        guard let parsed = try? SecretReference(reference) else { return quoted(reference) }
        let group = parsed.group.map { " in the group \(quoted($0))" } ?? ""
        return "\(quoted(parsed.account)) of \(quoted(parsed.service))\(group)"
    }

    // MARK: Text that others chose

    /// The text in quotes that it cannot end.
    private static func quoted(_ text: String) -> String { "'\(shown(text).replacing("'", with: "\\'"))'" }

    /// The text with two backslashes for each, and all else ``visible(_:)``.
    static func shown(_ text: String) -> String { visible(text.replacing("\\", with: "\\\\")) }

    /// The text with the numbers of characters that control a terminal or are not seen. Instead of spaces in a row,
    /// which move what follows out of sight, it has their count.
    static func visible(_ text: String) -> String {
        var (result, spaces) = ("", 0)
        for scalar in text.unicodeScalars {
            if scalar == " " {
                spaces += 1
                continue
            }
            result += row(spaces)
            spaces = 0
            if isUnseen(scalar) { result += scalar.escaped } else { result.unicodeScalars.append(scalar) }
        }
        return result + row(spaces)
    }

    private static func row(_ spaces: Int) -> String {
        switch spaces {
        case 0: ""
        case 1: " "
        default: "\\u{20}×\(spaces)"
        }
    }

    private static func isUnseen(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        // The last one is a letter of Braille without a dot.
        return scalar.controlsTerminal || properties.isDefaultIgnorableCodePoint || properties.isWhitespace
            || properties.generalCategory == .format || scalar.value == 0x2800
    }

    // MARK: Servers

    private static func hostAndPort(_ server: BrokerDestination) -> String {
        let port = server.port == (server.isSecure ? 443 : 80) ? "" : ":\(server.port)"
        return server.urlHost + port
    }

    private static func address(_ server: BrokerDestination) -> String {
        if let login = server.login {
            let dialled = server.address.map { ", at the address \($0)" } ?? ""
            let sent = login.sendsPassword ? ", WHICH MAY GET THE PASSWORD ITSELF" : ""
            return shown("\(login.url(of: server.host, server.port))\(dialled)\(sent)")
        }
        let path = server.path ?? "/*"
        let clear = server.isSecure ? "" : ", IN CLEAR TEXT"
        let dialled = server.address.map { ", at the address \($0)" } ?? ""
        return shown("\(server.isSecure ? "https" : "http")://\(hostAndPort(server))\(path)\(dialled)\(clear)")
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
