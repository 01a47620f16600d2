import CLibrary
import CommandKit
import FoundationEssentials
import ProcessVault
import StatusCodes
import VaultInterface

/// A subcommand of `security`.
protocol SecuritySubcommand: Sendable {
    var grammar: ShortOptions.Grammar { get }
    /// The arguments, after the subcommand's name.
    var usage: String { get }
    func run(_ options: ShortOptions, _ tool: SecurityTool) throws
}

/// macOS's `security`, for scripts that were written for it: the password and keychain subcommands with their own style
/// of arguments, output and exit statuses.
package struct SecurityTool {
    private static let subcommands: [(name: String, summary: String, subcommand: any SecuritySubcommand)] = [
        ("add-generic-password", "Add a generic password.", AddPassword(kind: .generic)),
        ("add-internet-password", "Add an internet password.", AddPassword(kind: .internet)),
        ("default-keychain", "Show the keychain.", NameKeychain()),
        ("delete-generic-password", "Delete a generic password.", DeletePassword(kind: .generic)),
        ("delete-internet-password", "Delete an internet password.", DeletePassword(kind: .internet)),
        ("dump-keychain", "Show every item, with -d its data too.", DumpKeychain()),
        ("find-generic-password", "Find a generic password.", FindPassword(kind: .generic)),
        ("find-internet-password", "Find an internet password.", FindPassword(kind: .internet)),
        ("list-keychains", "Show the keychain.", NameKeychain()),
        ("lock-keychain", "Lock the keychain.", LockKeychain()),
        ("login-keychain", "Show the keychain.", NameKeychain()),
        ("set-keychain-settings", "Set when the keychain locks itself.", SetKeychainSettings()),
        ("show-keychain-info", "Show when the keychain locks itself.", ShowKeychainInfo()),
        ("unlock-keychain", "Unlock the keychain.", UnlockKeychain()),
    ]

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
        guard let subcommand = Self.subcommands.first(where: { $0.name == name })?.subcommand else {
            complain("unknown command \"\(name.escapedForTerminal)\"; `security help` lists those that exist here")
            return 1
        }
        do {
            let options = try parse(arguments, subcommand.grammar)
            if options.contains("h") {
                try print("Usage: \(name) \(subcommand.usage)")
                return 0
            }
            try subcommand.run(options, self)
            return 0
        } catch {
            let failure = SecurityFailure(error)
            complain(failure.message)
            if case .usage = failure { complain(plain: "Usage: \(name) \(subcommand.usage)") }
            return failure.exitCode
        }
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
            lines += Self.subcommands.map { line($0.name, $0.summary) }
            lines += [
                "",
                "A password given with -w, -p or -X is visible to every user of the machine while the command",
                "runs. End the command with -w alone to be asked for it, or give commands to `security -i` on",
                "standard input.",
            ]
        }
        for name in names {
            guard let entry = Self.subcommands.first(where: { $0.name == name }) else {
                complain("unknown command \"\(name.escapedForTerminal)\"; `security help` lists those that exist here")
                return 1
            }
            lines += ["Usage: \(name) \(entry.subcommand.usage)", "    \(entry.summary)"]
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
        "    " + name + String(repeating: " ", count: max(1, 26 - name.count)) + summary
    }
}

extension SecurityTool {
    /// The path that is printed where macOS prints that of the keychain.
    func keychainPath() throws -> String {
        try securing("SecKeychainCopyDefault") {
            // A daemon that does not tell where its vault is has it in memory.
            if try ProcessVault.servedCaller() != nil, let path = try status().path { return path }
            return try ProcessVault.defaultPath()
        }
    }

    func status() throws -> VaultStatus {
        let session = try VaultSession.ofOwner()
        return try securing("SecKeychainGetStatus") {
            try session.perform(ReadStatus())
        }
    }

    /// Accepts the names that scripts use for the default keychain, and refuses others, which do not exist.
    func checkKeychains(_ names: [String]) throws {
        guard !names.isEmpty else { return }
        let path = try keychainPath()
        for name in names where name != path {
            let last = name.split(separator: "/").last ?? ""
            guard ["login", "login.keychain", "login.keychain-db", "default"].contains(last) else {
                throw SecurityFailure.operation(
                    "SecKeychainOpen \(name.escapedForTerminal)", status: errSecNoSuchKeychain,
                    reason: "The specified keychain could not be found.")
            }
        }
    }

    func print(_ text: String) throws { try StandardOutput.write(line: text) }

    func complain(_ message: String) { complain(plain: "security: " + message) }

    /// There is nowhere left to report that standard error cannot be written.
    func complain(plain line: String) { try? FileOutput.write(Data((line + "\n").utf8), to: 2) }
}

/// The words of a line of `security -i`, split as by a shell: blanks separate words, and quotation marks and
/// backslashes protect blanks.
struct CommandWords {
    private(set) var words: [String] = []

    /// Returns nil if a quotation mark is not closed.
    init?(_ line: String) {
        var word: String?
        var quote: Character?
        var isEscaped = false
        for character in line {
            if isEscaped {
                word = (word ?? "") + String(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if character == quote {
                quote = nil
            } else if quote == nil, character == "\"" || character == "'" {
                quote = character
                word = word ?? ""
            } else if quote == nil, character == " " || character == "\t" {
                if let finished = word { words.append(finished) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        guard quote == nil, !isEscaped else { return nil }
        if let finished = word { words.append(finished) }
    }
}
