import ArgumentParser
import BrowserCommands
import Bytes
import CLibrary
import CommandKit
import KeyCommands
import KeychainDaemon
import PasswordCommands
import ProcessVault
import RunCommands
import SecurityCommands
import SystemBus
import SystemLibraries
import Vault
import VaultService

/// The program: `keychain`, or under its other names the daemon `keychaind`, Apple's `security`, a helper of git,
/// docker, cargo or ssh, and the host that browsers start.
@main
enum Program {
    static func main() {
        let arguments = CommandLine.arguments
        widenForHelp(arguments)
        if arguments.first == BusFront.name { BusFront.main(arguments) }
        CommandProcess.occupyStandardDescriptors()
        if arguments.dropFirst().first == IsolatedStart.name { IsolatedStart.main(arguments) }
        if name(in: arguments) == DaemonProgram.name { DaemonProgram.main(Array(arguments.dropFirst())) }
        exit(run(arguments))
    }

    /// The argument parser's help needs room beside its first column of 26, and ends the program without.
    private static func widenForHelp(_ arguments: [String]) {
        guard arguments.contains(where: { ["help", "-h", "--help"].contains($0) || $0.hasPrefix("--help-") }) else {
            return
        }
        var size = winsize()
        let columns =
            Environment.value(of: "COLUMNS").map { Int($0) ?? 0 }
            ?? (ioctl(1, UInt(truncatingIfNeeded: TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80)
        if columns < 40 { setenv("COLUMNS", "40", 1) }
    }

    /// Returns the last part of the name that the program was started with.
    private static func name(in arguments: [String]) -> Substring {
        arguments.first?.split(separator: "/").last ?? "keychain"
    }

    /// - Returns: The exit status.
    static func run(_ given: [String]) -> Int32 {
        CommandProcess.prepare()
        let arguments: [String]
        do {
            arguments = try takingColor(from: given)
        } catch {
            return error.report(asJSON: isJSONAsked(given))
        }
        ProcessVault.use(EmbeddedVault.self, orDaemonThrough: RemoteVault.self)
        defer { ProcessVault.close() }
        EmbeddedVault.observeTakingOver { ItemProgress.show("taking over the vault of an older version", $0, of: $1) }
        guard hasValidArguments() else {
            return Failure.usage("an argument is not UTF-8: names are text; give other bytes through --stdin --raw")
                .report(asJSON: isJSONAsked(arguments))
        }
        let rest = Array(arguments.dropFirst())
        if name(in: arguments) == "security" { return SecurityTool.run(rest) }
        if let helper = HelperProgram(rawValue: String(name(in: arguments))) { return helper.run(rest) }
        if name(in: arguments) == BrowserHost.program { return BrowserHost.run(rest) }
        do {
            if let status = try runShortcut(rest) { return status }
            var command = try parse(rest)
            try command.run()
            return 0
        } catch {
            return report(error, rest)
        }
    }

    /// Takes `--color` out of the arguments: every command has it, wherever it stands before `--`.
    private static func takingColor(from arguments: [String]) throws(Failure) -> [String] {
        guard name(in: arguments) == "keychain", arguments.contains(where: { $0.hasPrefix("--color") }) else {
            return arguments
        }
        var rest: [String] = []
        var words = arguments[...]
        while let word = words.popFirst() {
            if word == "--" { return rest + ["--"] + words }
            guard word == "--color" || word.hasPrefix("--color=") else {
                rest.append(word)
                continue
            }
            let given = word == "--color" ? words.popFirst() : String(word.dropFirst("--color=".count))
            guard let choice = given.flatMap(TerminalStyle.Choice.init) else {
                throw .usage("--color takes auto, always or never")
            }
            TerminalStyle.choose(choice)
        }
        return rest
    }

    /// Swift replaces bytes of the command line that are not text with U+FFFD, which would make different names the
    /// same.
    private static func hasValidArguments() -> Bool {
        // A program to run gets its arguments as they are.
        let isRun = CommandLine.arguments.dropFirst().first == "run"
        let terminator = isRun ? CommandLine.arguments.firstIndex(of: "--") : nil
        let checked = terminator.map { min($0 + 2, Int(CommandLine.argc)) } ?? Int(CommandLine.argc)
        return (0..<checked).allSatisfy { index in
            CommandLine.unsafeArgv[index].map { String(validatingCString: $0) != nil } ?? true
        }
    }

    /// What follows `--` is for another program.
    private static func isJSONAsked(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains("--json")
    }

    /// Runs what scripts do a thousand times without the argument parser, which takes a third of the time of the whole
    /// process.
    ///
    /// - Returns: The exit status, or nil if the command line needs the parser.
    private static func runShortcut(_ arguments: [String]) throws -> Int32? {
        switch arguments.first {
        case "security":
            return SecurityTool.run(Array(arguments.dropFirst()))
        case "get" where arguments.count == 3 && !arguments[1].hasPrefix("-") && !arguments[2].hasPrefix("-"):
            try PasswordCommands.get(arguments[1], arguments[2])
            return 0
        default:
            return nil
        }
    }

    /// Returns the command that the arguments ask for.
    ///
    /// The first word names a subcommand, which is parsed by itself, because the argument parser would first make a
    /// tree of all commands with their help texts. If the arguments do not fit that subcommand, the whole tree is used
    /// after all: help, errors and completion scripts need it.
    private static func parse(_ arguments: [String]) throws -> any ParsableCommand {
        if let nested = KeyCommands.importCommand(arguments),
            let command = try? nested.parseAsRoot(Array(arguments.dropFirst(2))),
            command is any DocumentedCommand
        {
            return command
        }
        if let subcommand = arguments.first.flatMap(KeychainTool.subcommand(named:)),
            let command = try? subcommand.parseAsRoot(Array(arguments.dropFirst())), command is any DocumentedCommand
        {
            return command
        }
        // What is asked of: a command, or help on one.
        let topic = arguments.first == "help" ? arguments.dropFirst().first : arguments.first
        if let topic, !topic.hasPrefix("-"), topic != "help", KeychainTool.subcommand(named: topic) == nil {
            throw KeychainTool.noCommand(topic)
        }
        // The parser would show the help of the group.
        if arguments.first == "help" {
            let place = CommandPlace(arguments.dropFirst())
            if let failure = place.noCommand { throw failure }
        }
        return try KeychainTool.parseAsRoot(arguments)
    }

    /// Prints an error, or the help or completion script that was asked for.
    private static func report(_ error: any Error, _ arguments: [String]) -> Int32 {
        let asJSON = isJSONAsked(arguments)
        if let exit = error as? ExitCode { return exit.rawValue }
        guard var failure = Failure(reporting: error) else {
            if KeychainTool.exitCode(for: error) == .success {
                let message = KeychainTool.fullMessage(for: error)
                return printRequested(HelpPage(message)?.text ?? message)
            }
            return unparsable(KeychainTool.message(for: error), arguments).report(asJSON: asJSON)
        }
        failure.noteOtherTool()
        return failure.report(asJSON: asJSON)
    }

    private static func unparsable(_ message: String, _ arguments: [String]) -> Failure {
        let place = CommandPlace(arguments[...])
        // Only a group of commands, which has no arguments of its own, does not expect a first word.
        if message.contains("nexpected argument"), let failure = place.noCommand { return failure }
        // The message may repeat what was typed.
        let line = oneLine(message).unicodeScalars.reduce(into: "") { line, scalar in
            if scalar.controlsTerminal { line += scalar.escaped } else { line.unicodeScalars.append(scalar) }
        }
        let sentence = line.hasSuffix(".") ? line.dropLast() : line[...]
        let what = sentence.prefix(1).lowercased() + sentence.dropFirst()
        return .usage("\(what): see `keychain help\(place.path)`")
    }

    /// Returns a message of several lines as one line. Entries of a list are separated by commas.
    private static func oneLine(_ message: String) -> String {
        var result = ""
        var isInList = false
        for line in message.split(separator: "\n") {
            var text = line.drop { $0 == " " }
            let isEntry = text.hasPrefix("- ")
            if isEntry { text = text.dropFirst(2) }
            result += (result.isEmpty ? "" : isEntry && isInList ? ", " : " ") + text
            isInList = isEntry
        }
        return result
    }

    private static func printRequested(_ text: String) -> Int32 {
        do {
            try StandardOutput.write(line: text)
            return 0
        } catch {
            return error.report(asJSON: false)
        }
    }
}
