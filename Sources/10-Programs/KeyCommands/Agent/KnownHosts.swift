import CLibrary
import CommandKit
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

    /// Returns the first name in plain text for a host key. Hashed names cannot be read back.
    func name(ofKey key: Data) -> String? {
        let wanted = key.base64EncodedString()
        for path in paths {
            guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { continue }
            for line in text.split(whereSeparator: \.isNewline) {
                let fields = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
                // Marked lines are about authorities and revoked keys (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT).
                guard fields.count >= 3, !fields[0].hasPrefix("@"), !fields[0].hasPrefix("|"), fields[2] == wanted,
                    let name = fields[0].split(separator: ",").first(where: { !$0.contains("*") && !$0.hasPrefix("!") })
                else { continue }
                return String(name)
            }
        }
        return nil
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
