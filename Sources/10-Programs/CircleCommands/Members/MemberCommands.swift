import Access
import ArgumentParser
import Bytes
import CLibrary
import CommandKit
import FoundationEssentials
import PasswordGeneration
import StatusCodes
import VaultInterface

/// What a machine is called in its circle.
struct MachineName: ParsableArguments {
    @Option(help: ArgumentHelp("What the others call this machine; its host name unless given.", valueName: "name"))
    var name: String?

    var value: String {
        if let name { return name }
        var host = [CChar](repeating: 0, count: 256)
        gethostname(&host, 255)
        return host.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "machine" }
    }
}

struct CreateCircleCommand: DocumentedCommand {
    static let summary = "Make a circle whose first member is this vault."
    static let details = """
        Synchronizable items of the named access groups travel; without --group, those of the group in which this tool \
        stores passwords. Nothing leaves the machine before another one is let in.
        """
    static let examples = [
        Example("Through Syncthing's folder", "keychain circle create --folder ~/Sync"),
        Example("For a service", "keychain circle create --folder /srv/circle --group com.example.shop"),
    ]
    static let configuration: CommandConfiguration = documented("create")

    @Option(help: ArgumentHelp("The folder that comes to all machines.", valueName: "path"), completion: .directory)
    var folder: String

    @Option(help: ArgumentHelp("An access group whose items travel; may be given several times.", valueName: "group"))
    var group: [String] = []

    @OptionGroup var machine: MachineName
    @OptionGroup var passcode: PasscodeInput

    func run() throws {
        let location = try CircleTravel.location(ofFolder: folder)
        let session = try VaultSession.ofOwner(passcode)
        let groups = group.isEmpty ? session.client.accessGroups.prefix(1).map(\.self) : group
        try session.perform(ChangeCircle(.create(name: machine.value, groups: groups, location: location)))
        try CircleTravel(session).carry()
        try StandardOutput.write(
            line: "a circle with this machine, '\(machine.value)', for \(groups.joined(separator: ", "))"
                .escapedForTerminal)
    }
}

struct InviteCommand: DocumentedCommand {
    static let summary = "Invite another machine: prints the words that it needs."
    static let details = """
        Whoever knows the words may ask to join, and a member still has to approve it. Say them, or send them on a way \
        that you trust. They work for as many machines as --count says, until --hours are over.
        """
    static let examples = [
        Example("Your own second machine", "keychain circle invite"),
        Example("Fifty servers that only read and write items", "keychain circle invite --count 50 --guest"),
    ]
    static let configuration: CommandConfiguration = documented("invite")

    @Option(help: ArgumentHelp("How many machines may join with the words.", valueName: "number"))
    var count: UInt16 = 1

    @Option(help: ArgumentHelp("How long the words work, in hours.", valueName: "hours"))
    var hours: Int = 24

    @Flag(help: "The machine may change items, and neither invite nor remove others.")
    var guest = false

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var words: String
    }

    func validate() throws {
        guard count > 0 else { throw ValidationError("--count takes a number from 1 on") }
        guard (1...8_760).contains(hours) else { throw ValidationError("--hours takes 1 to 8760") }
    }

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        let travel = try CircleTravel(session)
        let rights: UInt8 = guest ? 8 : 15
        let made = try session.perform(
            ChangeCircle(.invite(count: count, seconds: Int64(hours) * 3_600, rights: rights)))
        guard let secret = made.secret else { throw Failure(VaultError.memoryUnavailable) }
        travel.carry()
        let words = secret.withUnsafeBytes { WordCode.words(for: Array($0)) }.joined(separator: " ")
        if json { return try StandardOutput.write(json: Answer(words: words)) }
        try StandardOutput.write(line: words)
    }
}

struct JoinCommand: DocumentedCommand {
    static let summary = "Ask to join a circle, with the words of an invitation."
    static let details = """
        The words are asked for at the terminal, or read from a descriptor or from standard input. The vault makes its \
        keys and asks. A member then approves it; compare the four words that both machines show. After that, \
        `keychain circle sync` brings the items.
        """
    static let examples = [
        Example("Type the words", "keychain circle join --folder ~/Sync"),
        Example("In a script", "keychain circle join --folder /srv/circle --words-fd 3 3< words"),
    ]
    static let configuration: CommandConfiguration = documented("join")

    @Option(help: ArgumentHelp("The folder that comes to all machines.", valueName: "path"), completion: .directory)
    var folder: String

    @Option(
        name: .customLong("words-fd"),
        help: ArgumentHelp("Read the words from this open file descriptor.", valueName: "n"))
    var descriptor: Int32?

    @Option(
        help: ArgumentHelp(
            "An access group whose items may travel here; may be given several times. Without it, the group in which this "
                + "tool stores passwords.", valueName: "group"))
    var group: [String] = []

    @OptionGroup var machine: MachineName
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var standing: String
        /// What to compare.
        var words: String
    }

    func validate() throws { try OpenDescriptor.validate(descriptor) }

    func run() throws {
        let location = try CircleTravel.location(ofFolder: folder)
        let secret = try readSecret()
        let session = try VaultSession.ofOwner(passcode)
        let groups = group.isEmpty ? session.client.accessGroups.prefix(1).map(\.self) : group
        try session.perform(
            ChangeCircle(.join(secret: secret, name: machine.value, location: location, groups: groups)))
        try CircleTravel(session).carry()
        let status = try session.perform(ReadCircle())
        let words = CircleTravel.words(of: status.fingerprint)
        if json { return try StandardOutput.write(json: Answer(standing: "\(status.standing)", words: words)) }
        guard status.circle != nil else {
            return CommandNote.show(
                "the folder has no circle that these words are for yet; `keychain circle sync` looks again")
        }
        try StandardOutput.write(
            line: "asked to join as '\(machine.value)'; this machine's words: \(words)".escapedForTerminal)
        CommandNote.show(
            "a member has to run `keychain circle approve`, which shows the same words; then run `keychain circle sync` here"
        )
    }

    private func readSecret() throws -> SecretBytes {
        var typed = try readWords()
        defer { typed.resetBytes(in: typed.indices) }
        let words = String(decoding: typed, as: UTF8.self).split { $0.isWhitespace || $0 == "-" || $0 == "," }
        guard words.count == WordCode.wordCount(forBytes: 16) else {
            throw Failure.usage(
                "an invitation has \(WordCode.wordCount(forBytes: 16)) words; these are \(words.count)")
        }
        guard let bytes = WordCode.bytes(of: words, count: 16) else {
            throw Failure.usage("these are not the words of an invitation: compare each with what was printed")
        }
        return try bytes.withUnsafeBytes { try SecretBytes(copying: $0) }
    }

    private func readWords() throws -> Data {
        if let descriptor { return try SecretInput.readAll(descriptor, keepingNewline: false) }
        guard isatty(0) == 1, let terminal = CommandTerminal() else {
            return try SecretInput.readAll(0, keepingNewline: false)
        }
        return try terminal.askSecrets(["Words of the invitation: "]).first ?? Data()
    }
}

/// A request that a command is about.
struct RequestChoice: ParsableArguments {
    @Argument(help: "What the machine calls itself; may be left out if only one asks.")
    var machine: String?

    func choose(_ status: CircleStatus) throws -> CircleRequest {
        let found = status.requests.filter { machine == nil || $0.name == machine }
        guard let first = found.first else {
            throw Failure(
                status: errSecItemNotFound,
                machine.map { "no machine '\($0.escapedForTerminal)' asks to join" } ?? "no machine asks to join")
        }
        guard found.count == 1 else {
            let names = Set(found.map(\.name)).sorted().map { $0.escapedForTerminal }.joined(separator: ", ")
            throw Failure(
                status: errSecParam,
                "\(found.count) machines ask to join (\(names)): name one of them; of several with one name, refuse all"
            )
        }
        return first
    }
}

struct ApproveCommand: DocumentedCommand {
    static let summary = "Let a machine into the circle that asks to join."
    static let details = """
        Shows what the machine calls itself and four words of its keys. Compare the words with those that \
        `keychain circle join` printed there: if they differ, somebody else asks in its name. On a terminal you then \
        type 'approve'; elsewhere --yes is needed. The machine gets all access groups that this one has, or those \
        that --group names.
        """
    static let examples = [
        Example("The only machine that asks", "keychain circle approve"),
        Example("With some of the items", "keychain circle approve server --group com.example.shop"),
    ]
    static let configuration: CommandConfiguration = documented("approve")

    @OptionGroup var request: RequestChoice

    @Option(help: ArgumentHelp("An access group that it gets; may be given several times.", valueName: "group"))
    var group: [String] = []

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var passcode: PasscodeInput

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        let travel = try CircleTravel(session)
        travel.carry()
        let request = try request.choose(session.perform(ReadCircle()))
        let words = CircleTravel.words(of: request.fingerprint)
        if !yes {
            try Confirmation(
                loss: "'\(request.name.escapedForTerminal)' asks to join. Its words: \(words)", word: "approve",
                verb: "admitted"
            ).ask(unattended: .refused("compare the words of the machine, '\(words)', and say --yes"))
        }
        let groups = group.isEmpty ? nil : group
        let made = try session.perform(ChangeCircle(.approve(request: request.identifier, groups: groups)))
        travel.carry()
        try StandardOutput.write(line: "'\(request.name)' is member \(made.member)".escapedForTerminal)
    }
}

struct RefuseCommand: DocumentedCommand {
    static let summary = "Forget a machine that asks to join."
    static let details = "Its invitation still works. Make the invitation end with its --hours, or remove who used it."
    static let examples = [Example("A machine that nobody knows", "keychain circle refuse stranger")]
    static let configuration: CommandConfiguration = documented("refuse")

    @OptionGroup var request: RequestChoice
    @OptionGroup var passcode: PasscodeInput

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        let request = try request.choose(session.perform(ReadCircle()))
        try session.perform(ChangeCircle(.refuse(request: request.identifier)))
    }
}

struct RemoveMemberCommand: DocumentedCommand {
    static let summary = "Remove a machine from the circle."
    static let details = """
        All that it could read gets new keys, so that it opens nothing that is stored afterwards. What it could read \
        until then it may have kept: change those secrets where they count. On a terminal you type 'remove'; elsewhere \
        --yes is needed.
        """
    static let examples = [Example("A lost laptop", "keychain circle remove laptop")]
    static let configuration: CommandConfiguration = documented("remove")

    @Argument(help: "The name of the machine, or its number in `keychain circle list`.")
    var machine: String

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var passcode: PasscodeInput

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        let travel = try CircleTravel(session)
        travel.carry()
        let members = try session.perform(ReadCircle()).members.filter { !$0.isRemoved }
        let found = members.filter { "\($0.number)" == machine || $0.name == machine }
        guard let member = found.first else {
            throw Failure(status: errSecItemNotFound, "the circle has no member '\(machine.escapedForTerminal)'")
        }
        guard found.count == 1 else {
            throw Failure(
                status: errSecParam,
                "several members are called '\(machine.escapedForTerminal)': give the number of one")
        }
        if !yes {
            try Confirmation(
                loss: "'\((member.name ?? machine).escapedForTerminal)', member \(member.number), gets nothing more.",
                word: "remove", verb: "removed"
            ).ask(unattended: .refused("say --yes to remove member \(member.number)"))
        }
        let made = try session.perform(ChangeCircle(.remove(member: member.number)))
        travel.carry()
        CommandNote.show(
            "member \(member.number) may have kept what it could read: \(made.items) items. Change those secrets where "
                + "they count")
    }
}

struct LeaveCircleCommand: DocumentedCommand {
    static let summary = "Leave the circle. All items stay in this vault."
    static let details = """
        The others are told, and get new keys. On a terminal you type 'leave'; elsewhere --yes is needed. A vault that \
        only asked to join just forgets it.
        """
    static let examples = [Example("Before a machine goes away", "keychain circle leave")]
    static let configuration: CommandConfiguration = documented("leave")

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var passcode: PasscodeInput

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        let status = try session.perform(ReadCircle())
        guard status.standing != .none else {
            throw Failure(status: errSecItemNotFound, "this vault is in no circle")
        }
        if !yes, status.standing == .member {
            try Confirmation(
                loss: "This vault gets no changes of the others any more, and joins again only when it is invited.",
                word: "leave", verb: "changed"
            ).ask(unattended: .refused("say --yes to leave the circle"))
        }
        let travel = try? CircleTravel(session)
        try session.perform(ChangeCircle(.leave))
        // Tells the others, and then forgets the circle.
        if try session.perform(ReadCircle()).standing != .none { travel?.carry() }
    }
}
