import Foundation
import Glibc
import SSHAgent

/// The hosts that OpenSSH knows, to call one by its name.
struct KnownHosts {
    private let paths: [String]

    init(paths: [String]) {
        self.paths = paths
    }

    /// Those of this user, and of the machine.
    static var ofUser: KnownHosts {
        let home = getenv("HOME").map { String(cString: $0) }
        return KnownHosts(paths: (home.map { ["\($0)/.ssh/known_hosts"] } ?? []) + ["/etc/ssh/ssh_known_hosts"])
    }

    /// The first name that is written in plain for a host key; hashed names cannot be read back.
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

    /// What a person is told before a signature is made.
    func words(for purpose: SignaturePurpose, key: String) -> String {
        let action =
            switch purpose {
            case .login(let user, let host?): "log in as \(user.escapedForTerminal) on \(words(for: host))"
            case .login(let user, nil): "log in as \(user.escapedForTerminal) on a host that the client does not name"
            case .data("git"): "sign a git commit or tag"
            case .data("file"): "sign a file"
            case .data(let namespace): "sign data for '\(namespace.escapedForTerminal)'"
            case .other: "sign something that is neither a login nor a commit"
            }
        return "\(action) with the key '\(key)'."
    }

    private func words(for host: BoundHost) -> String {
        let name = name(ofKey: host.key).map { "\($0.escapedForTerminal) (\(host.fingerprint))" }
        return (name ?? "the host \(host.fingerprint)") + (host.isForwarded ? ", for a program on that host" : "")
    }
}
