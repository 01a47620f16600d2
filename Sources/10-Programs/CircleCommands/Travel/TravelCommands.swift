import ArgumentParser
import Bytes
import CircleFolder
import CommandKit
import FoundationEssentials
import StatusCodes
import VaultInterface

struct ListCircleCommand: DocumentedCommand {
    static let summary = "Show the members of the circle, the groups that travel, and what waits."
    static let details = "A star marks this machine. `--json` prints every field."
    static let examples = [Example("Who is in it", "keychain circle list")]
    static let configuration: CommandConfiguration = documented("list")

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var standing: String
        var circle: String?
        var number: UInt32
        var words: String
        var location: String
        var members: [Member]
        var groups: [Group]
        var offers: [String]
        var requests: [Request]
        var invitations: [Invitation]
        var recoveryKey: Bool
        var needs: String?
        var waiting: Int
        var outgoing: Int
        var conflicts: Int
    }

    private struct Member: Encodable {
        var number: UInt32
        var name: String?
        var rights: [String]
        var words: String
        var attested: Bool
        var removed: Bool
    }

    private struct Group: Encodable {
        var group: String
        var generation: UInt32
        var holders: [UInt32]
        var items: Int
    }

    private struct Request: Encodable {
        var name: String
        var words: String
        var attester: String?
        var maker: String?
    }

    private struct Invitation: Encodable {
        var invitation: String
        var left: UInt16
        var until: String
        var rights: [String]
        var unattended: Bool
        var attestation: Bool
        var groups: [String]
    }

    func run() throws {
        let status = try VaultSession.ofOwnerInPresentVault().perform(ReadCircle())
        if json { return try StandardOutput.write(json: answer(status)) }
        switch status.standing {
        case .none: return CommandNote.show("this vault is in no circle")
        case .joining:
            return try StandardOutput.write(
                line: "this vault asks to join; its words: \(CircleTravel.words(of: status.fingerprint))")
        case .removed: CommandNote.show("this vault was removed from the circle: nothing travels to or from it")
        case .member: break
        }
        let members = status.members.filter { !$0.isRemoved }.map { member in
            [
                member.number == status.number ? "*" : "", "\(member.number)", member.name ?? "",
                Self.rights(member.rights).joined(separator: ", "),
                CircleTravel.words(of: member.fingerprint) + (member.isAttested ? " (a TPM has the keys)" : ""),
            ].map(\.escapedForTerminal)
        }
        try StandardOutput.write(Table(members, heads: ["", "number", "machine", "may", "words"]))
        let names = Dictionary(status.members.map { ($0.number, $0.name ?? "\($0.number)") }) { first, _ in first }
        let groups = status.views.map { view in
            [view.group, "\(view.items)", view.holders.map { names[$0] ?? "\($0)" }.joined(separator: ", ")]
                .map(\.escapedForTerminal)
        }
        if !groups.isEmpty {
            try StandardOutput.write(line: "")
            try StandardOutput.write(Table(groups, heads: ["group", "items", "machines"]))
        }
        let invitations = status.invitations.map { invitation in
            let asks = invitation.flags & 2 == 0 ? "a person" : "nobody"
            return [
                invitation.digits, "\(invitation.left)", Timestamp(invitation.deadline).shown,
                asks + (invitation.flags & 1 == 0 ? "" : " and a TPM"),
                invitation.groups.joined(separator: ", ").escapedForTerminal,
            ]
        }
        if !invitations.isEmpty {
            try StandardOutput.write(line: "")
            try StandardOutput.write(Table(invitations, heads: ["invitation", "left", "until", "asks", "gives"]))
        }
        notes(status)
    }

    private func notes(_ status: CircleStatus) {
        if let needs = status.needs { CommandNote.show(needs.escapedForTerminal) }
        for request in status.requests {
            CommandNote.show(
                "'\(request.name)' asks to join, with the words \(CircleTravel.words(of: request.fingerprint)): "
                    .escapedForTerminal + "`keychain circle approve` lets it in"
                    + (request.attested.map { ". \($0)" } ?? ""))
        }
        for offer in status.offers {
            CommandNote.show(
                "a machine offers the items of '\(offer)': `keychain circle add` takes them, and gives those that are here"
                    .escapedForTerminal)
        }
        if status.outgoing > 0 {
            let isThroughEtcd = status.location.hasPrefix("etcd:")
            CommandNote.show(
                CircleTravel.unsent(status.outgoing)
                    + (isThroughEtcd ? ": keychain-sync does that" : ": `keychain circle sync` does that"))
        }
        if status.waiting > 0, status.standing == .member { CommandNote.show(Self.waiting(status.waiting)) }
        if status.conflicts > 0 { CommandNote.show(Self.conflicts(status.conflicts)) }
    }

    static func waiting(_ count: Int) -> String {
        (count == 1 ? "1 change of others waits" : "\(count) changes of others wait")
            + " for the unlocking, or for something that has not come yet"
    }

    static func conflicts(_ count: Int) -> String {
        (count == 1 ? "1 change" : "\(count) changes")
            + " lost against a later one that was made without knowledge of it: see `keychain circle conflicts`"
    }

    private static func rights(_ rights: UInt8) -> [String] {
        [(1, "invite"), (2, "remove"), (4, "add"), (8, "change")].filter { rights & $0.0 != 0 }.map(\.1)
    }

    private func answer(_ status: CircleStatus) -> Answer {
        Answer(
            standing: "\(status.standing)", circle: status.circle?.hexadecimal(), number: status.number,
            words: status.fingerprint.isEmpty ? "" : CircleTravel.words(of: status.fingerprint),
            location: status.location,
            members: status.members.map {
                Member(
                    number: $0.number, name: $0.name, rights: Self.rights($0.rights),
                    words: CircleTravel.words(of: $0.fingerprint), attested: $0.isAttested, removed: $0.isRemoved)
            },
            groups: status.views.map {
                Group(group: $0.group, generation: $0.generation, holders: $0.holders, items: $0.items)
            },
            offers: status.offers,
            requests: status.requests.map {
                Request(
                    name: $0.name, words: CircleTravel.words(of: $0.fingerprint),
                    attester: $0.attester?.hexadecimal(), maker: $0.maker)
            },
            invitations: status.invitations.map {
                Invitation(
                    invitation: $0.identifier.hexadecimal(), left: $0.left, until: Timestamp($0.deadline).iso8601,
                    rights: Self.rights($0.rights), unattended: $0.flags & 2 != 0, attestation: $0.flags & 1 != 0,
                    groups: $0.groups)
            },
            recoveryKey: status.hasRecoveryKey, needs: status.needs, waiting: status.waiting,
            outgoing: status.outgoing, conflicts: status.conflicts)
    }
}

struct ConflictsCommand: DocumentedCommand {
    static let summary = "Show changes that lost against later ones."
    static let details = """
        Of two changes that were made without knowledge of each other, the later is in force. The other one is listed \
        here, with the fields that differ now, and is in its history: `keychain restore` brings it back. --forget ends \
        the list.
        """
    static let examples = [
        Example("See what lost", "keychain circle conflicts"),
        Example("Bring a version back", "keychain restore mail.example.com alice --version 2"),
    ]
    static let configuration: CommandConfiguration = documented("conflicts")

    @Flag(help: "Forget them after they are shown.")
    var forget = false

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var item: ItemSummary?
        var group: String
        var member: UInt32
        var machine: String?
        var found: String
        var deletion: Bool
        var differs: [String]
    }

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        let members = try session.perform(ReadCircle()).members
        let names = Dictionary(members.map { ($0.number, $0.name) }) { first, _ in first }
        var conflicts: [CircleConflict] = []
        _ = try session.vault.perform(ReadCircleConflicts(isForgetting: forget), as: session.client) {
            (conflict: CircleConflict) throws(VaultError) in conflicts.append(conflict)
        }
        if json {
            return try StandardOutput.write(
                json: conflicts.map {
                    Answer(
                        item: $0.item.map { ItemSummary($0) }, group: $0.group, member: $0.member,
                        machine: names[$0.member] ?? nil, found: Timestamp($0.found).iso8601, deletion: $0.isDeletion,
                        differs: $0.differences)
                })
        }
        let rows = conflicts.map { conflict -> [String] in
            let summary = conflict.item.map { ItemSummary($0) }
            let machine = (names[conflict.member] ?? nil) ?? "\(conflict.member)"
            let service = (summary?.service ?? summary?.label)?.forTerminal ?? ""
            let differences = conflict.isDeletion ? "deleted it" : conflict.differences.joined(separator: ", ")
            return [
                Timestamp(conflict.found).shown, machine.escapedForTerminal, service,
                summary?.account?.forTerminal ?? "", differences.escapedForTerminal,
            ]
        }
        if !rows.isEmpty {
            try StandardOutput.write(Table(rows, heads: ["found", "machine", "service", "account", "differs"]))
        }
    }
}

struct AddGroupCommand: DocumentedCommand {
    static let summary = "Let the synchronizable items of one more access group travel."
    static let details = """
        A group that another machine offers (`keychain circle list`) is taken. Any other one is new: only this machine has \
        it at first, and machines that are let in afterwards can get it.
        """
    static let examples = [Example("The items of a service", "keychain circle add com.example.shop")]
    static let configuration: CommandConfiguration = documented("add")

    @Argument(help: "The access group.")
    var group: String

    @OptionGroup var passcode: PasscodeInput

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        try session.perform(ChangeCircle(.addView(group: group)))
        try CircleTravel(session).carry()
    }
}

struct MoveCircleCommand: DocumentedCommand {
    static let summary = "Say where the circle meets for this machine from now on."
    static let details = """
        Move a folder with all that is in it first; on other machines it may be elsewhere. When a circle goes from a folder \
        to etcd, or back, the vault copies everything it holds to the new place. Run the command on every machine: until \
        then they do not meet.
        """
    static let examples = [
        Example("After the folder was moved", "keychain circle move --folder /srv/circle"),
        Example("From a folder to etcd", "keychain circle move --etcd https://etcd-1.example.com:2379"),
    ]
    static let configuration: CommandConfiguration = documented("move")

    @OptionGroup var meeting: MeetingPlace
    @OptionGroup var passcode: PasscodeInput

    func run() throws {
        let location = try meeting.location().text
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        try session.perform(ChangeCircle(.move(location: location)))
        try CircleTravel(session).carry()
    }
}

struct SyncCommand: DocumentedCommand {
    static let summary = "Have items travel: what changed here goes to the folder, and what changed elsewhere comes."
    static let details = """
        Writes and reads everything once, and ends. With --watch it goes on until it is ended: after each change of the vault, and \
        every few seconds for what the folder brings. Items that are readable only while the vault is unlocked wait for \
        the unlocking, in both directions.
        """
    static let examples = [
        Example("Once", "keychain circle sync"), Example("All the time", "keychain circle sync --watch"),
    ]
    static let configuration: CommandConfiguration = documented("sync")

    @Flag(help: "Go on until the command is ended.")
    var watch = false

    @Option(help: ArgumentHelp("How often --watch looks at the folder.", valueName: "seconds"))
    var every: Int = 2

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var standing: String
        var written: Int
        var changed: Int
        var conflicts: Int
        var waiting: Int
        var refused: Int
        var alarms: [String]
    }

    func validate() throws {
        guard (1...3_600).contains(every) else { throw ValidationError("--every takes 1 to 3600 seconds") }
    }

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        if passcode.descriptor != nil { _ = try session.unlockIfPossible() }
        let travel = try CircleTravel(session.withoutUnlocking)
        let carrier = try travel.carrier()
        let notices = watch ? try ChangeNotices(session.vault.changes()) : nil
        var shown = FolderCarrier.Report()
        while true {
            do {
                try carrier.synchronize()
            } catch {
                let failure = Failure(
                    status: (error as? VaultError)?.osStatus ?? errSecIO, CircleTravel.reason(error).escapedForTerminal)
                // The folder or the daemon may come back.
                guard notices != nil else { throw failure }
                CommandNote.show(failure.message)
            }
            if carrier.report != shown || notices == nil { try show(carrier.report, since: shown) }
            shown = carrier.report
            guard let notices else { return }
            notices.wait(milliseconds: Int32(truncatingIfNeeded: every * 1_000))
        }
    }

    private func show(_ report: FolderCarrier.Report, since shown: FolderCarrier.Report) throws {
        for alarm in report.alarms.dropFirst(shown.alarms.count) {
            CommandNote.show("the circle's folder: \(alarm)".escapedForTerminal)
        }
        if json {
            return try StandardOutput.write(
                json: Answer(
                    standing: "\(report.standing)", written: report.written, changed: report.changed,
                    conflicts: report.conflicts, waiting: report.waiting, refused: report.refused,
                    alarms: report.alarms))
        }
        if report.standing == .joining { CommandNote.show("this machine waits to be admitted") }
        let (changed, written) = (report.changed - shown.changed, report.written - shown.written)
        try StandardOutput.write(line: "items changed here: \(changed), sent: \(written)")
        if report.conflicts > shown.conflicts {
            CommandNote.show(ListCircleCommand.conflicts(report.conflicts - shown.conflicts))
        }
        if report.waiting > 0, report.standing == .member {
            CommandNote.show(ListCircleCommand.waiting(report.waiting))
        }
    }
}
