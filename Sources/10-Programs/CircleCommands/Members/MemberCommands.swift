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

/// Where a circle meets.
struct MeetingPlace: ParsableArguments {
    @Option(
        help: ArgumentHelp("The folder that something else brings to all machines.", valueName: "path"),
        completion: .directory)
    var folder: String?

    @Option(
        help: ArgumentHelp(
            "The nodes of etcd, separated by commas, such as https://etcd-1.example.com:2379; keychain-sync has to run.",
            valueName: "urls"))
    var etcd: String?

    func validate() throws {
        guard (folder == nil) != (etcd == nil) else { throw ValidationError("name the place: --folder or --etcd") }
        if let etcd {
            let endpoints = etcd.split(separator: ",")
            guard !endpoints.isEmpty, endpoints.allSatisfy({ CircleLocation.endpoint(String($0)) != nil }) else {
                throw ValidationError(
                    "--etcd takes addresses such as https://etcd-1.example.com:2379, separated by commas")
            }
        }
    }

    func location() throws -> CircleLocation {
        if let etcd { return .etcd(etcd.split(separator: ",").compactMap { CircleLocation.endpoint(String($0)) }) }
        return .folder(try Self.absolute(folder ?? ""))
    }

    /// Where a vault finds a folder again, whatever the present folder of a program is.
    private static func absolute(_ path: String) throws -> String {
        let path = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        var isFolder = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder else {
            throw Failure.input(path, "there is no such folder: make it, or start what brings it to this machine")
        }
        return path
    }
}

struct CreateCircleCommand: DocumentedCommand {
    static let summary = "Make a circle whose first member is this vault."
    static let details = """
        Synchronizable items of the named access groups travel; without --group, those of the group in which this tool \
        stores passwords. Others can read them once you let them in; until then only sealed data leaves the machine.
        """
    static let examples = [
        Example("Through Syncthing's folder", "keychain circle create --folder ~/Sync"),
        Example("Servers that meet in etcd", "keychain circle create --etcd https://etcd-1:2379,https://etcd-2:2379"),
        Example("For a service", "keychain circle create --folder /srv/circle --group com.example.shop"),
    ]
    static let configuration: CommandConfiguration = documented("create")

    @Option(help: ArgumentHelp("An access group whose items travel; may be given several times.", valueName: "group"))
    var group: [String] = []

    @Flag(help: "Also make a recovery key and print it, once.")
    var recoveryKey = false

    @OptionGroup var meeting: MeetingPlace
    @OptionGroup var machine: MachineName
    @OptionGroup var passcode: PasscodeInput

    func run() throws {
        let location = try meeting.location().text
        let session = try VaultSession.ofOwner(passcode)
        let groups = group.isEmpty ? session.client.accessGroups.prefix(1).map(\.self) : group
        try session.perform(ChangeCircle(.create(name: machine.value, groups: groups, location: location)))
        let key = recoveryKey ? try session.perform(ChangeCircle(.makeRecoveryKey)).secret : nil
        try CircleTravel(session).carry()
        try StandardOutput.write(
            line: "a circle with this machine, '\(machine.value)', for \(groups.joined(separator: ", "))"
                .escapedForTerminal)
        if let key { try CircleRecoveryKeyCommand.show(key, json: false) }
    }
}

struct JoinCommand: DocumentedCommand {
    static let summary = "Ask to join a circle, with the words of an invitation."
    static let details = """
        The words are asked for at the terminal, or read from a descriptor or from standard input. The vault makes its \
        keys and asks. A member then approves it; compare the four words that both machines show. After that, \
        `keychain circle sync` brings the items, or with etcd keychain-sync does.
        """
    static let examples = [
        Example("Type the words", "keychain circle join --folder ~/Sync"),
        Example("In a script", "keychain circle join --folder /srv/circle --words-fd 3 3< words"),
    ]
    static let configuration: CommandConfiguration = documented("join")

    @Option(
        name: .customLong("words-fd"),
        help: ArgumentHelp("Read the words from this open file descriptor.", valueName: "n"))
    var descriptor: Int32?

    @Option(
        help: ArgumentHelp(
            "An access group whose items may travel here; may be given several times. Without it, the group in which this "
                + "tool stores passwords.", valueName: "group"))
    var group: [String] = []

    @OptionGroup var meeting: MeetingPlace
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
        let location = try meeting.location().text
        let secret = try readSecret()
        let session = try VaultSession.ofOwner(passcode)
        let groups = group.isEmpty ? session.client.accessGroups.prefix(1).map(\.self) : group
        try session.perform(
            ChangeCircle(.join(secret: secret, name: machine.value, location: location, groups: groups)))
        // What the vault cannot do does not get better with time.
        try CircleTravel(session).carry(toleratingUnsupported: false)
        let status = try session.perform(ReadCircle())
        let words = CircleTravel.words(of: status.fingerprint)
        if json { return try StandardOutput.write(json: Answer(standing: "\(status.standing)", words: words)) }
        guard status.circle != nil else {
            return CommandNote.show(
                meeting.folder == nil
                    ? "keychain-sync has not found the circle that these words are for yet; it goes on looking"
                    : "the folder has no circle that these words are for yet; `keychain circle sync` looks again")
        }
        try StandardOutput.write(
            line: "asked to join as '\(machine.value)'; this machine's words: \(words)".escapedForTerminal)
        CommandNote.show(
            "a member has to run `keychain circle approve`, which shows the same words, unless the invitation is an "
                + "unattended one" + (meeting.folder == nil ? "" : "; then run `keychain circle sync` here")
        )
    }

    private func readSecret() throws -> SecretBytes {
        var typed = try TypedSecret.read("Words of the invitation: ", descriptor)
        defer { typed.resetBytes(in: typed.indices) }
        let words = WordCode.split(String(decoding: typed, as: UTF8.self))
        guard words.count == WordCode.wordCount(forBytes: 16) else {
            throw Failure.usage(
                "an invitation has \(WordCode.wordCount(forBytes: 16)) words; these are \(words.count)")
        }
        guard let bytes = WordCode.bytes(of: words, count: 16) else {
            throw Failure.usage("these are not the words of an invitation: compare each with what was printed")
        }
        return try bytes.withUnsafeBytes { try SecretBytes(copying: $0) }
    }
}

extension CircleRequest {
    /// What the TPM of the machine says, ready for a terminal; nil if nothing was asked of it.
    var attested: String? {
        attester.map { attester in
            let maker = maker.map { "a certificate that nobody checked calls its maker '\($0.escapedForTerminal)'" }
            return "Its TPM: attester \(attester.hexadecimal()), \(maker ?? "without a certificate of its maker")"
        }
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
        `keychain circle join` printed there: if they differ, somebody else asks in its name. If the invitation asks for \
        an attestation, compare the attester with what `keychain key attest` prints there, too. On a terminal you then \
        type 'approve'; elsewhere --yes is needed. The machine gets the access groups that --group names, or those of its \
        invitation, or all that this one has.
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
                loss: "'\(request.name.escapedForTerminal)' asks to join. Its words: \(words)"
                    + (request.attested.map { ". \($0)" } ?? ""),
                word: "approve", verb: "admitted"
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
    static let details = "Its invitation still works: `keychain circle end` ends it."
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
        Its groups get new keys: it cannot open what is stored afterwards. What it could read until then it may have kept: \
        change those secrets where they count. On a terminal you type 'remove'; elsewhere --yes is needed.
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
        let status = try session.perform(ReadCircle())
        let members = status.members.filter { !$0.isRemoved }
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
                loss:
                    "'\((member.name ?? machine).escapedForTerminal)', member \(member.number), gets no further changes.",
                word: "remove", verb: "removed"
            ).ask(unattended: .refused("say --yes to remove member \(member.number)"))
        }
        let made = try session.perform(ChangeCircle(.remove(member: member.number)))
        travel.carry()
        CommandNote.show(
            "member \(member.number) may have kept what it could read: \(made.items) items. Change those secrets where "
                + "they count")
        if status.hasRecoveryKey, try !session.perform(ReadCircle()).hasRecoveryKey {
            CommandNote.show(
                "it made the recovery key, which is void now: `keychain circle recovery-key` makes another one")
        }
        if let invitation = status.invitations.first(where: { $0.identifier == member.invitation }) {
            CommandNote.show(
                "it knows the words of an invitation that is still open: `keychain circle end \(invitation.digits)` ends it"
            )
        }
    }
}

struct LeaveCircleCommand: DocumentedCommand {
    static let summary = "Leave the circle. All items stay in this vault."
    static let details = """
        This machine tells the others, and they make new keys. With --only-here it tells nobody, and just forgets the \
        circle: two machines that use copies of one vault are one member, and one of them has to join as another. On a \
        terminal you type 'leave'; elsewhere --yes is needed. A vault that only asked to join just forgets it.
        """
    static let examples = [
        Example("Before a machine goes away", "keychain circle leave"),
        Example("In a copy of a vault that is in use elsewhere", "keychain circle leave --only-here"),
    ]
    static let configuration: CommandConfiguration = documented("leave")

    @Flag(help: "Tell nobody: the vault of which this one is a copy stays a member.")
    var onlyHere = false

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
        if onlyHere {
            try session.perform(ChangeCircle(.forget))
            return
        }
        let travel = try? CircleTravel(session)
        try session.perform(ChangeCircle(.leave))
        // Tells the others, and then forgets the circle.
        if try session.perform(ReadCircle()).standing != .none { travel?.carry() }
    }
}
