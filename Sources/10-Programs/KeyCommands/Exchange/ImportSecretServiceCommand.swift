import ArgumentParser
import Bytes
import CLibrary
import CommandKit
import FoundationEssentials
import SecretService
import StatusCodes
import SystemBus
import SystemLibraries
import VaultInterface

/// Stores what a desktop's keyring has.
struct ImportSecretServiceCommand: DocumentedCommand {
    static let name = "secret-service"
    static let summary = "Store what a Secret Service has, such as gnome-keyring or KWallet."
    static let details = """
        The other program is read over the session bus, as any program reads it. It asks you to unlock a collection \
        that is locked. Its collections, labels and attributes stay as they are; the items come into the access group \
        `secret-service`, where `keychaind --session-bus` and `keychain run --secret-service` serve them. Each item is \
        read again and compared. Nothing changes in the other program.

        An item with the same attributes and another secret stays as it is, unless you say --replace. The command can \
        be repeated: it stores what is new.
        """
    static let examples = [
        Example("Move in", "keychain import secret-service"),
        Example("Take over what was changed there since", "keychain import secret-service --replace"),
    ]
    static let configuration: CommandConfiguration = documented(name)

    @Flag(help: "Replace a different secret here by the one from there.")
    var replace = false

    @Option(
        help: ArgumentHelp("How long you have to unlock each collection, in seconds.", valueName: "seconds"))
    var wait = 120

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func validate() throws {
        guard (0...3_600).contains(wait) else { throw ValidationError("--wait takes 0 to 3600 seconds") }
    }

    private struct Answer: Encodable {
        var collection: String
        var items: Int
        var stored: Int
        var same: Int
        var different: [String]
        var problems: [String]
        var isLocked: Bool
    }

    func run() throws {
        let outcomes = try read()
        if json {
            try StandardOutput.write(
                json: outcomes.map {
                    Answer(
                        collection: $0.label, items: $0.items, stored: $0.stored, same: $0.same,
                        different: $0.different, problems: $0.problems, isLocked: $0.isLocked)
                })
        } else {
            let rows = outcomes.map { outcome in
                [
                    outcome.label.escapedForTerminal,
                    outcome.isLocked
                        ? "locked"
                        : "\(outcome.items) items: \(outcome.stored) stored, \(outcome.same) were there already",
                ]
            }
            try StandardOutput.write(Table(rows, heads: ["collection", "what became of it"]))
        }
        let different = outcomes.flatMap(\.different)
        if !different.isEmpty {
            let names = different.map { "'\($0.escapedForTerminal)'" }.joined(separator: ", ")
            CommandNote.show(
                "another secret is here for \(names), and stayed: --replace takes the one from there")
        }
        for problem in outcomes.flatMap(\.problems) {
            CommandNote.show("left out: \(problem.escapedForTerminal)")
        }
        guard outcomes.allSatisfy({ !$0.isLocked }) else {
            throw Failure(
                status: errSecInteractionNotAllowed,
                "not everything was taken: unlock what is locked there, and run this again")
        }
        guard outcomes.allSatisfy(\.problems.isEmpty) else {
            throw Failure(
                status: errSecDecode, exitCode: ExitStatus.other,
                "not everything was taken: see above which items were left out, and why")
        }
    }

    private func read() throws -> [SecretServiceImport.Outcome] {
        try OtherTool.refuseUnknownCopy()
        let session = try VaultSession.ofOwner(passcode)
        defer { ItemProgress.end() }
        let other: SecretServiceImport
        do throws(BusError) {
            other = try SecretServiceImport(Self.address())
        } catch {
            throw Failure(
                status: errSecNotAvailable,
                "no Secret Service answers on the session bus (\(error)): start the program that has the secrets, or "
                    + "set DBUS_SESSION_BUS_ADDRESS")
        }
        do {
            return try other.run(into: session, patience: .seconds(wait), replaces: replace) {
                ItemProgress.show("reading", $0, of: $1, from: 100)
            }
        } catch let error as BusError {
            throw Failure(
                status: errSecNotAvailable,
                "the other program stopped answering (\(error)): what was taken is stored; run this again for the rest")
        }
    }

    private static func address() -> String {
        sessionBus ?? "unix:path=\(Environment.value(of: "XDG_RUNTIME_DIR") ?? "/run/user/\(getuid())")/bus"
    }

    fileprivate static var sessionBus: String? { Environment.value(of: "DBUS_SESSION_BUS_ADDRESS") }
}

extension KeyCommands {
    /// The program that has the Secret Service's name on the session bus; nil if none has it, if it is `keychaind`, and
    /// without a session bus.
    package static func otherSecretService() -> String? {
        guard let sessionBus = ImportSecretServiceCommand.sessionBus,
            let bus = try? BusConnection(.at(sessionBus), patience: .milliseconds(500)),
            let process = try? bus.process(owning: BusNames.secrets)
        else { return nil }
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/exe")) ?? ""
        guard !program.hasSuffix("/keychain"), process != getpid() else { return nil }
        return program.isEmpty ? "process \(process)" : "\(program) (process \(process))"
    }
}
