import CLibrary
import CommandKit
import FoundationEssentials

/// A subcommand of `security`.
protocol SecuritySubcommand: Sendable {
    var grammar: ShortOptions.Grammar { get }
    /// The arguments, after the subcommand's name.
    var usage: String { get }
    func run(_ options: ShortOptions, _ tool: SecurityTool) throws
}

/// macOS's `security`, for scripts that were written for it: its subcommands with their own style of arguments, output
/// and exit statuses.
package struct SecurityTool {
    private static let subcommands: [(name: String, summary: String, subcommand: any SecuritySubcommand)] =
        [
            ("add-certificates", "Add certificates to a keychain.", AddCertificates()),
            ("add-generic-password", "Add a generic password.", AddPassword(kind: .generic)),
            ("add-internet-password", "Add an internet password.", AddPassword(kind: .internet)),
            ("add-trusted-cert", "Trust a certificate, or forbid it.", AddTrustedCertificate()),
            ("cms", "Sign messages, and verify and decode them.", SignMessage()),
            ("create-keychain", "Make keychains and unlock them.", CreateKeychain()),
            ("default-keychain", "Show or choose the default keychain.", NameDefaultKeychain()),
            ("delete-certificate", "Delete a certificate.", DeleteCertificate(withKey: false)),
            ("delete-generic-password", "Delete a generic password.", DeletePassword(kind: .generic)),
            ("delete-identity", "Delete a certificate and its private key.", DeleteCertificate(withKey: true)),
            ("delete-internet-password", "Delete an internet password.", DeletePassword(kind: .internet)),
            ("delete-keychain", "Destroy keychains and all that is in them.", DeleteKeychain()),
            ("dump-keychain", "Show every item, with -d its data too.", DumpKeychain()),
            ("dump-trust-settings", "Show which certificates you trust.", DumpTrustSettings()),
            ("error", "Show what status codes mean.", ExplainErrors()),
            ("export", "Write certificates and keys to a file.", ExportItems()),
            ("find-certificate", "Find certificates.", FindCertificate()),
            ("find-generic-password", "Find a generic password.", FindPassword(kind: .generic)),
            ("find-identity", "Find certificates with their private keys.", FindIdentity()),
            ("find-internet-password", "Find an internet password.", FindPassword(kind: .internet)),
            ("import", "Add the certificates and keys of a file.", ImportItems()),
            ("list-keychains", "Show or set the keychains that are searched.", ListKeychains()),
            ("lock-keychain", "Lock a keychain.", LockKeychain()),
            ("login-keychain", "Show the login keychain.", NameLoginKeychain()),
            ("remove-trusted-cert", "Forget the settings of a certificate.", RemoveTrustedCertificate()),
            ("set-generic-password-partition-list", PartitionList.summary, PartitionList(letters: "acCDGjls")),
            ("set-internet-password-partition-list", PartitionList.summary, PartitionList(letters: "acCdDjlprsPt")),
            ("set-key-partition-list", PartitionList.summary, PartitionList(letters: "acDjlt", flags: "dersuvw")),
            ("set-keychain-password", "Change the password of a keychain.", SetKeychainPassword()),
            ("set-keychain-settings", "Set when a keychain locks itself.", SetKeychainSettings()),
            ("show-keychain-info", "Show when a keychain locks itself.", ShowKeychainInfo()),
            ("unlock-keychain", "Unlock a keychain.", UnlockKeychain()),
            ("verify-cert", "Check whether a certificate can be trusted.", VerifyCertificate()),
        ] + RefusedSubcommand.all.map { ($0.name, "Not here: \($0.reason).", RefusedCommand(reason: $0.reason)) }

    /// - Returns: The exit status.
    package static func run(_ arguments: [String]) -> Int32 { SecurityTool().run(arguments) }

    private func run(_ arguments: [String]) -> Int32 {
        var rest = arguments[...]
        while let option = rest.first, option.hasPrefix("-") {
            rest.removeFirst()
            switch option {
            case "-q", "-v": continue
            case "-i": return runLines()
            case "-h", "--help": return help([])
            default: return unknownOption(option)
            }
        }
        guard let name = rest.popFirst() else {
            _ = help([], on: 2)
            return 2
        }
        return name == "help" ? help(Array(rest)) : run(name, Array(rest))
    }

    private func run(_ name: String, _ arguments: [String]) -> Int32 {
        guard let (name, _, subcommand) = find(name) else { return 1 }
        if let refused = subcommand as? RefusedCommand {
            complain("\(name) is not here: \(refused.reason)")
            return 1
        }
        do {
            if subcommand is ExplainErrors, let first = arguments.first, first != "-h" {
                try ExplainErrors.show(arguments, self)
            }
            let options = try parse(arguments, subcommand.grammar)
            if options.contains("h") {
                try print("Usage: \(name) \(subcommand.usage)")
                return 0
            }
            try subcommand.run(options, self)
            return 0
        } catch {
            let failure = SecurityFailure(error)
            if case .reported = failure { return failure.exitCode }
            complain(failure.message)
            if case .usage = failure { complain(plain: "Usage: \(name) \(subcommand.usage)") }
            return failure.exitCode
        }
    }

    /// Returns the subcommand with this name or, like macOS, with this beginning of a name. Says if there is none.
    private func find(
        _ word: String
    ) -> (name: String, summary: String, subcommand: any SecuritySubcommand)? {
        if let exact = Self.subcommands.first(where: { $0.name == word }) { return exact }
        let found = word.isEmpty ? [] : Self.subcommands.filter { $0.name.hasPrefix(word) }
        if found.count == 1 { return found.first }
        let shown = word.escapedForTerminal
        if found.isEmpty {
            complain("unknown command \"\(shown)\"; `security help` lists those that exist here")
        } else {
            complain("\"\(shown)\" is the beginning of \(found.map(\.name).joined(separator: ", ")): type more of it")
        }
        return nil
    }

    private func parse(
        _ arguments: [String], _ grammar: ShortOptions.Grammar
    ) throws -> ShortOptions {
        do {
            return try ShortOptions(arguments, grammar)
        } catch {
            switch error {
            case .unknown(let letter): throw SecurityFailure.usage("there is no option -\(letter)")
            case .valueMissing(let letter): throw SecurityFailure.usage("the option -\(letter) needs a value")
            }
        }
    }

    /// Runs commands from standard input, one on each line. This keeps passwords out of the arguments.
    ///
    /// - Returns: The exit status of the last command.
    private func runLines() -> Int32 {
        var status: Int32 = 0
        while true {
            if isatty(0) == 1 { try? FileOutput.write(Data("security> ".utf8), to: 1) }
            guard let line = readLine() else { return status }
            guard let words = CommandWords(line)?.words else {
                complain("a quotation mark is not closed")
                status = 2
                continue
            }
            guard let first = words.first else { continue }
            if first == "quit" || first == "exit" { return status }
            status = run(words)
        }
    }

    private func unknownOption(_ option: String) -> Int32 {
        complain("there is no option \(option.escapedForTerminal); `security help` lists those that exist")
        return 2
    }

    private func help(_ names: [String], on descriptor: Int32 = 1) -> Int32 {
        var lines: [String] = []
        if names.isEmpty {
            lines = ["Usage: security [-h] [-i] [-q] [-v] [subcommand] [arguments]", "", "Subcommands:"]
            lines += [("help", "Show this, or the usage of a subcommand.")].map(line)
            lines += Self.subcommands.filter { !($0.subcommand is RefusedCommand) }.map { line($0.name, $0.summary) }
            lines += [
                "",
                "A password given with -w, -p, -P, -o, -k or -X is visible to every user of the machine while the",
                "command runs. Without the option, or with -w alone at the end, it is asked for at the terminal; or",
                "give commands to `security -i` on standard input.",
            ]
        }
        for name in names {
            guard let entry = find(name) else { return 1 }
            lines += ["Usage: \(entry.name) \(entry.subcommand.usage)", "    \(entry.summary)"]
        }
        do {
            try FileOutput.write(Data((lines.joined(separator: "\n") + "\n").utf8), to: descriptor)
            return 0
        } catch {
            complain(error.message)
            return 1
        }
    }

    private func line(_ name: String, _ summary: String) -> String {
        "    " + name + String(repeating: " ", count: max(1, 38 - name.count)) + summary
    }
}

extension SecurityTool {
    func print(_ text: String) throws { try StandardOutput.write(line: text) }

    func complain(_ message: String) { complain(plain: "security: " + message) }

    /// There is nowhere left to report that standard error cannot be written.
    func complain(plain line: String) { try? FileOutput.write(Data((line + "\n").utf8), to: 2) }
}

/// Stands for a subcommand that does not exist here.
struct RefusedCommand: SecuritySubcommand {
    let reason: String
    let grammar = ShortOptions.Grammar()
    let usage = ""

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws { throw SecurityFailure.other(reason) }
}
