import CommandKit
import FoundationEssentials
import TrustSettings

/// `find-identity`.
struct FindIdentity: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "vh", values: "ps")
    let usage =
        "[-v] [-p ssl-client|ssl-server|smime|eap|ipsec|ichat|codesigning|basic|appleID|macappstore] ... [-s string] "
        + "[keychain ...]"

    /// The policies of macOS, in the order in which they are shown.
    private static let policies: [(name: String, title: String, policy: UserTrust.Policy, isClient: Bool)] = [
        ("ssl-client", "SSL (client)", .ssl, true), ("ssl-server", "SSL (server)", .ssl, false),
        ("smime", "S/MIME", .smime, true), ("eap", "EAP", .eap, true), ("ipsec", "IPsec", .ipSec, true),
        ("ichat", "iChat", .iChat, true), ("codesigning", "Code Signing", .codeSign, true),
        ("basic", "X.509 Basic", .basic, true), ("appleID", "AppleID Sharing", .appleID, false),
        ("macappstore", "Mac App Store Receipt", .macappstore, true),
    ]

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        let asked = options.values("p").isEmpty ? ["basic"] : options.values("p")
        guard asked.allSatisfy({ name in Self.policies.contains { $0.name == name } }) else {
            throw SecurityFailure.usage("-p takes one of the policies")
        }
        let (text, onlyValid) = (options.value("s"), options.contains("v"))
        let keychains = try tool.searched(options.operands)
        let identities = try keychains.flatMap { try $0.identities() }
        // The certificates of authorities may be in any of the keychains.
        let others = try keychains.flatMap { try $0.certificates().map(\.der) }
        if let text { try tool.print("Looking for identities matching \"\(text.escapedForTerminal)\"") }
        for policy in Self.policies where asked.contains(policy.name) {
            guard let use = CertificateUse(policy.policy.rawValue, text: text, isClient: policy.isClient) else {
                continue
            }
            var rows: [(line: String, verdict: TrustVerdict)] = []
            for identity in identities where use.allows(identity.certificate.certificate) {
                let certificate = identity.certificate
                let verdict = try TrustCheck(certificates: [certificate.der] + others, use: use).verdict()
                let error = verdict.name.map { " (\($0))" } ?? ""
                rows.append(("\(certificate.sha1) \"\(certificate.name.escapedForTerminal)\"\(error)", verdict))
            }
            if !onlyValid {
                try tool.print("\nPolicy: \(policy.title)\n  Matching identities")
                try show(rows.map(\.line), tool)
                try tool.print("     \(rows.count) identities found\n\n  Valid identities only")
            }
            let valid = rows.filter { $0.verdict == .trusted }
            try show(valid.map(\.line), tool)
            try tool.print("     \(valid.count) valid identities found")
        }
    }

    private func show(_ lines: [String], _ tool: SecurityTool) throws {
        for (index, line) in lines.enumerated() {
            let number = String(index + 1)
            try tool.print(String(repeating: " ", count: max(0, 3 - number.count)) + "\(number)) \(line)")
        }
    }
}
