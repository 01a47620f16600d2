import Access
import ArgumentParser
import Bytes
import CLibrary
import CircleFolder
import CommandKit
import FoundationEssentials
import StatusCodes
import VaultInterface

/// A secret that a person types, or a script hands over.
enum TypedSecret {
    /// - Parameter descriptor: Where to read it; nil for the terminal, or standard input if there is none.
    static func read(_ question: String, _ descriptor: Int32?) throws -> Data {
        if let descriptor { return try SecretInput.readAll(descriptor, keepingNewline: false) }
        guard isatty(0) == 1, let terminal = CommandTerminal() else {
            return try SecretInput.readAll(0, keepingNewline: false)
        }
        return try terminal.askSecrets([question]).first ?? Data()
    }
}

struct CircleRecoveryKeyCommand: DocumentedCommand {
    static let summary = "Make the circle's recovery key and print it, once."
    static let details = """
        If all machines are lost, the folder and this key bring back everything that travelled: \
        `keychain circle recover`. Write it down and lock it away: whoever has it and the folder reads everything, and \
        becomes a member with all rights.

        If there is one already, it is replaced: it opens nothing that is stored from then on. On a terminal you then \
        type 'replace'; elsewhere --yes is needed.
        """
    static let examples = [Example("Print it on paper", "keychain circle recovery-key | lpr")]
    static let configuration: CommandConfiguration = documented("recovery-key")

    @Flag(help: "Do not ask, also if there is a recovery key already.")
    var yes = false

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var recoveryKey: String
    }

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        let travel = try CircleTravel(session)
        travel.carry()
        if !yes, try session.perform(ReadCircle()).hasRecoveryKey {
            try Confirmation(
                loss: "The circle has a recovery key, which then opens nothing that is stored afterwards.",
                word: "replace", verb: "changed"
            ).ask(
                unattended: .refused("the circle has a recovery key: say --yes to make another one in its place"))
        }
        guard let key = try session.perform(ChangeCircle(.makeRecoveryKey)).secret else {
            throw Failure(VaultError.memoryUnavailable)
        }
        travel.carry()
        try Self.show(key, json: json)
    }

    static func show(_ key: SecretBytes, json: Bool) throws {
        let text = key.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        if json { return try StandardOutput.write(json: Answer(recoveryKey: text)) }
        try StandardOutput.write(line: text)
        CommandNote.show("write this key down and lock it away: it is not shown again")
    }
}

struct RecoverCircleCommand: DocumentedCommand {
    static let summary = "Come back to a circle whose machines are all lost, with its recovery key."
    static let details = """
        The vault of this machine becomes a member with all rights, gets all access groups of the circle, and opens \
        their items. Wait until the folder is completely copied first, or start keychain-sync. Afterwards, remove the machines that are lost \
        (`keychain circle remove`), and make another recovery key: this one was typed.
        """
    static let examples = [
        Example("On a new machine", "keychain circle recover --folder ~/Sync"),
        Example("From etcd", "keychain circle recover --etcd https://etcd-1.example.com:2379"),
        Example("In a script", "keychain circle recover --folder /srv/circle --key-fd 3 3< recovery-key"),
    ]
    static let configuration: CommandConfiguration = documented("recover")

    @Option(
        name: .customLong("key-fd"),
        help: ArgumentHelp("Read the recovery key from this open file descriptor.", valueName: "n"))
    var descriptor: Int32?

    @OptionGroup var meeting: MeetingPlace
    @OptionGroup var machine: MachineName
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var standing: String
        var groups: [String]
        /// How many items came.
        var changed: Int
    }

    func validate() throws { try OpenDescriptor.validate(descriptor) }

    func run() throws {
        let location = try meeting.location().text
        var typed = try TypedSecret.read("Recovery key: ", descriptor)
        defer { typed.resetBytes(in: typed.indices) }
        let key = try typed.withUnsafeBytes { try SecretBytes(copying: $0) }
        let session = try VaultSession.ofOwner(passcode)
        try session.perform(ChangeCircle(.recover(key: key, name: machine.value, location: location)))
        let changed = try carry(CircleTravel(session))
        let status = try session.perform(ReadCircle())
        let groups = status.views.map(\.group)
        if json {
            return try StandardOutput.write(
                json: Answer(standing: "\(status.standing)", groups: groups, changed: changed))
        }
        guard status.standing == .member else {
            return CommandNote.show(
                (meeting.folder == nil
                    ? "keychain-sync has not found a circle with this recovery key; it goes on looking, and "
                    : "the folder has no circle with this recovery key; `keychain circle sync` looks again, and ")
                    + "`keychain circle leave` ends it")
        }
        try StandardOutput.write(
            line: "member \(status.number) with all rights; items that came back: \(changed), in "
                + groups.joined(separator: ", ").escapedForTerminal)
        CommandNote.show(
            "remove the machines that are lost (`keychain circle remove`), and make another recovery key "
                + "(`keychain circle recovery-key`): this one was typed")
    }

    /// - Returns: How many items came.
    private func carry(_ travel: CircleTravel) throws -> Int {
        guard case .folder = travel.place else {
            travel.carry()
            return 0
        }
        let carrier = try travel.carrier()
        try CircleTravel.reporting(carrier) { try carrier.synchronize() }
        return carrier.report.changed
    }
}
