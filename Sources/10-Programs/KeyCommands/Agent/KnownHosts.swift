import CLibrary
import CommandKit
import Crypto
import FoundationEssentials
import SSHAgent
import SystemLibraries

/// The hosts that OpenSSH knows, to find the name of one by its key.
struct KnownHosts {
    private let paths: [String]

    init(paths: [String]) { self.paths = paths }

    /// Those of this user, and of the machine.
    static var ofUser: KnownHosts {
        let home = Environment.value(of: "HOME")
        return KnownHosts(paths: (home.map { ["\($0)/.ssh/known_hosts"] } ?? []) + ["/etc/ssh/ssh_known_hosts"])
    }

    /// The lines, with the mark of those about authorities and revoked keys (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT).
    private var lines: [(mark: Substring?, names: Substring, key: Substring)] {
        paths.compactMap { try? String(contentsOfFile: $0, encoding: .utf8) }.flatMap { text in
            text.split(whereSeparator: \.isNewline).compactMap { line in
                var fields = line.split(whereSeparator: { $0 == " " || $0 == "\t" })[...]
                let mark = fields.first?.hasPrefix("@") == true ? fields.removeFirst() : nil
                guard fields.count >= 3, !fields[fields.startIndex].hasPrefix("#") else { return nil }
                return (mark, fields[fields.startIndex], fields[fields.startIndex + 2])
            }
        }
    }

    /// Returns the first name in plain text for a host key. Hashed names cannot be read back.
    func name(ofKey key: Data) -> String? {
        let wanted = key.base64EncodedString()
        return lines.lazy.filter { $0.mark == nil && $0.key == wanted && !$0.names.hasPrefix("|") }
            .compactMap { $0.names.split(separator: ",").first { !$0.contains("*") && !$0.hasPrefix("!") } }
            .first.map(String.init)
    }

    /// Returns the keys of a host that are not revoked.
    ///
    /// - Parameter name: As the file has it: `HOST`, or `[HOST]:PORT` for another port than 22. Patterns do not count.
    func keys(ofHost name: String) -> [Data] {
        let lines = lines
        let revoked = Set(lines.filter { $0.mark == "@revoked" }.map(\.key))
        return lines.filter { line in
            line.mark == nil && !revoked.contains(line.key)
                && (line.names.split(separator: ",").contains { $0 == name } || Self.isHash(line.names, of: name))
        }.compactMap { Data(base64Encoded: String($0.key)) }
    }

    /// A hashed name is `|1|SALT|HMAC-SHA-1` (sshd(8)).
    private static func isHash(_ text: Substring, of name: String) -> Bool {
        let parts = text.split(separator: "|")
        guard text.hasPrefix("|1|"), parts.count == 3, let salt = Data(base64Encoded: String(parts[1])),
            let code = Data(base64Encoded: String(parts[2]))
        else { return false }
        return HMAC<Insecure.SHA1>.isValidAuthenticationCode(
            code, authenticating: Data(name.utf8), using: SymmetricKey(data: salt))
    }

    /// Returns what a person is told before a signature is made.
    ///
    /// - Parameter asker: The host that asks; nil for a program on this machine.
    func words(for purpose: SignaturePurpose, key: String, from asker: BoundHost?) -> String {
        let action =
            switch purpose {
            case .login(let user, let host?): "log in as \(quoted(user)) on \(words(for: host))"
            case .login(let user, nil): "log in as \(quoted(user)) on a host that is not known"
            case .data("git"): "sign a git commit or tag"
            case .data("file"): "sign a file"
            case .data(let namespace): "sign data for \(quoted(namespace))"
            case .other: "sign something that is neither a login nor a commit"
            }
        let origin = asker.map { ", for a program on \(words(for: $0))" } ?? ""
        return "\(action) with the key '\(key)'\(origin)."
    }

    /// Quotes text from the client, so that a reader sees where it ends.
    private func quoted(_ text: String) -> String {
        let shown = text.prefix(Self.longestName)
        return "'" + String(shown).escapedForTerminal.replacing("'", with: "\\'") + (shown == text ? "'" : "…'")
    }

    /// In characters. Names of users have at most 32 (useradd(8)).
    private static let longestName = 64

    private func words(for host: BoundHost) -> String {
        name(ofKey: host.key).map { "\($0.escapedForTerminal) (\(host.fingerprint))" } ?? "the host \(host.fingerprint)"
    }
}
