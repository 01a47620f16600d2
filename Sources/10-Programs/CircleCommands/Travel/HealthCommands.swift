import Access
import ArgumentParser
import CLibrary
import CircleFolder
import CommandKit
import FoundationEssentials
import KeychainModel
import StatusCodes
import VaultInterface

struct CircleStatusCommand: DocumentedCommand {
    static let summary = "Show how far each machine of the circle has got, and whether they agree."
    static let details = """
        Machines tell each other, signed, what they have read and written. So this machine can tell what others have that \
        it lacks: because data is late, or because somebody withholds it. A machine says something when it has something \
        new; `heard` is when it did last, by its own clock. Through etcd, keychain-sync compares, and `status` shows what \
        it found last.
        """
    static let examples = [Example("Whether all machines have the same", "keychain circle status")]
    static let configuration: CommandConfiguration = documented("status")

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var standing: String
        var number: UInt32
        var machines: [Machine]
        var waiting: Int
        var outgoing: Int
        var alarms: [String]
    }

    private struct Machine: Encodable {
        var number: UInt32
        var name: String?
        var heard: String?
        var agrees: Bool
        var finding: String?
        var since: String?
    }

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        let look = try CircleLook(session)
        let status = try session.perform(ReadCircle())
        let machines = status.members.filter { !$0.isRemoved }.map { machine($0, status, look.agreement) }
        if json {
            return try StandardOutput.write(
                json: Answer(
                    standing: "\(status.standing)", number: status.number, machines: machines, waiting: status.waiting,
                    outgoing: status.outgoing, alarms: look.alarms))
        }
        for alarm in look.alarms { CommandNote.show(alarm.escapedForTerminal) }
        switch status.standing {
        case .joining: CommandNote.show(CircleTravel.joining(status))
        case .removed: CommandNote.show("this vault was removed from the circle: nothing travels to or from it")
        case .member, .none: break
        }
        let rows = machines.map { machine in
            [
                machine.number == status.number ? "*" : "", "\(machine.number)", machine.name ?? "",
                machine.heard ?? "",
                Self.state(machine, status),
            ].map(\.escapedForTerminal)
        }
        try StandardOutput.write(Table(rows, heads: ["", "number", "machine", "heard", "state"]))
        if status.outgoing > 0 { CommandNote.show(CircleTravel.unsent(status.outgoing)) }
        if status.waiting > 0 { CommandNote.show(ListCircleCommand.waiting(status.waiting)) }
    }

    private func machine(_ member: CircleMember, _ status: CircleStatus, _ agreement: CircleFindings) -> Machine {
        let heard = member.heads.values.map(\.time).max()
        let finding = agreement.findings[member.number]
        return Machine(
            number: member.number, name: member.name, heard: heard.map { Timestamp($0).shown },
            // A vault that is no member compares nothing.
            agrees: status.standing == .member && finding == nil && (heard != nil || member.number == status.number),
            finding: finding?.text(member.number),
            since: agreement.since[member.number].map { Timestamp($0).iso8601 })
    }

    private static func state(_ machine: Machine, _ status: CircleStatus) -> String {
        if let finding = machine.finding { return finding + (machine.since.map { ", since \($0)" } ?? "") }
        if machine.number == status.number { return "this machine" }
        guard status.standing == .member else { return "not compared" }
        return machine.agrees ? "agrees" : "has said nothing yet"
    }
}

struct CircleDoctorCommand: DocumentedCommand {
    static let summary = "Look for what keeps items from travelling, and say what to do."
    static let details = """
        Checks the vault, the membership, the folder or etcd, the clock, the size of items, and whether the machines \
        agree. With etcd, it has keychain-sync write something, and waits until etcd has it. Each line begins with `ok` or \
        `!!`. Ends with 1 if something is wrong.
        """
    static let examples = [Example("Items do not arrive", "keychain circle doctor")]
    static let configuration: CommandConfiguration = documented("doctor")

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    struct Check: Encodable {
        var check: String
        var ok: Bool
        var text: String

        init(_ check: String, _ isOK: Bool, _ text: String) { (self.check, ok, self.text) = (check, isOK, text) }
    }

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        if passcode.descriptor != nil { _ = try session.unlockIfPossible() }
        let checks = try CircleDoctor(session).checks()
        if json {
            try StandardOutput.write(json: checks)
        } else {
            for check in checks {
                try StandardOutput.write(
                    line: "\(check.ok ? "ok" : "!!")  \(check.check): \(check.text)".escapedForTerminal)
            }
        }
        if checks.contains(where: { !$0.ok }) { throw ExitCode(ExitStatus.other) }
    }
}

/// A look at the place where the circle meets, and what came of it.
struct CircleLook {
    private(set) var agreement = CircleFindings()
    private(set) var alarms: [String] = []
    /// Why the folder could not be looked at.
    private(set) var failure: String?
    private(set) var folder: String?
    /// Whether `keychain-sync` has items travel, and not this command.
    private(set) var isThroughEtcd = false

    /// - Throws: ``CommandKit/Failure`` if the vault is in no circle.
    init(_ session: VaultSession) throws {
        guard try session.perform(ReadCircle()).standing != .none else {
            throw Failure(
                status: errSecItemNotFound,
                "this vault is in no circle: make one with `keychain circle create`, or join one with `keychain circle join`"
            )
        }
        let travel: CircleTravel
        do {
            travel = try CircleTravel(session.withoutUnlocking)
        } catch let error as Failure {
            failure = error.message
            alarms = [error.message]
            return
        }
        guard case .folder(let path) = travel.place else {
            isThroughEtcd = true
            // keychain-sync has looked, and the vault keeps what it found. A look also counts what has to be sent.
            let state = try session.perform(CollectCircleObjects(for: CollectCircleObjects.etcd, limit: 1)) {
                (_: CircleObject) throws(VaultError) in
            }
            agreement = CircleFindings(atBeginningOf: state.place)
            alarms = agreement.alarms(at: Date())
            return
        }
        folder = path
        let carrier = try travel.carrier()
        do {
            try carrier.synchronize()
            agreement = carrier.agreement
        } catch {
            failure = CircleTravel.reason(error)
            agreement = (try? carrier.lastAgreement()) ?? CircleFindings()
        }
        alarms = carrier.report.alarms
        if let failure, !alarms.contains(failure) { alarms.append(failure) }
    }
}

/// Looks for what keeps items from travelling.
private struct CircleDoctor {
    typealias Check = CircleDoctorCommand.Check

    private let session: VaultSession
    private let look: CircleLook
    private let status: CircleStatus

    init(_ session: VaultSession) throws {
        self.session = session
        look = try CircleLook(session)
        status = try session.perform(ReadCircle())
    }

    func checks() throws -> [Check] {
        let place = try look.isThroughEtcd ? [etcd(), agreement()] : [folder(), files(), formats(), agreement()]
        return try [lock(), standing()] + place + [clock(), size(), waiting()]
    }

    private func lock() throws -> Check {
        let state = try session.perform(ReadStatus()).lockState
        switch state {
        case .unlocked: return Check("vault", true, "it is unlocked")
        case .beforeFirstUnlock:
            return Check("vault", false, "nothing travels before the first unlocking: run `keychain unlock`")
        default:
            return Check(
                "vault", true, "it is locked: items of the class \"when unlocked\" wait for `keychain unlock`")
        }
    }

    private func standing() -> Check {
        switch status.standing {
        case .member: Check("member", true, "this machine is member \(status.number)")
        case .joining:
            Check(
                "member", false,
                status.circle != nil || status.isRecovering
                    ? CircleTravel.joining(status)
                    : look.isThroughEtcd
                        ? "keychain-sync has not found the circle of these words: start it, or ask for new words"
                        : "the folder has no circle that the words were for: wait until it has arrived, or ask for new words"
            )
        case .removed, .none:
            Check("member", false, "this machine was removed: run `keychain circle leave`, and join again if it should")
        }
    }

    /// Has the vault say something, and waits for keychain-sync to write it.
    private func etcd() throws -> Check {
        guard status.standing == .member else {
            return Check("etcd", true, "keychain-sync brings what a machine needs that asks to be admitted")
        }
        guard try session.perform(ReadStatus()).lockState == .unlocked else {
            return Check("etcd", true, "it is not tried while the vault is locked")
        }
        try session.perform(ChangeCircle(.tell))
        let isAlone = status.members.count { !$0.isRemoved } == 1
        for _ in 0..<100 {
            let now = try session.perform(ReadCircle())
            // Alone, a vault has nobody to tell. keychain-sync has it make a head, and then writes that.
            if now.outgoing == 0, isAlone || now.said != nil {
                return Check("etcd", true, "keychain-sync wrote what this vault has for the others just now")
            }
            usleep(50_000)
        }
        return Check(
            "etcd", false, "keychain-sync does not run, or does not reach etcd: start it, and look at what it prints")
    }

    private func folder() -> Check {
        guard let path = look.folder else {
            return Check("folder", false, "the vault knows no folder: name it with `keychain circle move`")
        }
        guard access(path, R_OK | X_OK) == 0 else {
            return Check(
                "folder", false, "\(path) is not there: start what brings it, or name it with `keychain circle move`")
        }
        guard access(path, W_OK) == 0 else {
            return Check("folder", false, "\(path) cannot be written: change its owner or its permissions")
        }
        return look.failure.map { Check("folder", false, $0) }
            ?? Check("folder", true, "\(path) can be read and written")
    }

    private func files() -> Check {
        let alarms = look.alarms.filter { $0 != look.failure && !Self.isAboutFormat($0) && !isFinding($0) }
        return alarms.isEmpty
            ? Check("files", true, "each file is what its machine wrote, and none has a copy")
            : Check("files", false, alarms.joined(separator: "; "))
    }

    private func isFinding(_ alarm: String) -> Bool {
        look.agreement.findings.contains { $0.value.text($0.key) == alarm }
    }

    private static func isAboutFormat(_ alarm: String) -> Bool { alarm.contains("of a format that this version") }

    private func formats() -> Check {
        let alarms = look.alarms.filter(Self.isAboutFormat)
        return alarms.isEmpty
            ? Check("formats", true, "this version reads what the others write")
            : Check("formats", false, alarms.joined(separator: "; ") + ": install the version that the others have")
    }

    private func agreement() -> Check {
        let findings = look.agreement.findings.sorted { $0.key < $1.key }
        guard findings.isEmpty else {
            return Check(
                "agreement", false,
                findings.map { member, finding in
                    finding.text(member)
                        + (look.agreement.since[member].map { ", since \(Timestamp($0).iso8601)" } ?? "")
                }.joined(separator: "; ") + ": look at what "
                    + (look.isThroughEtcd ? "keychain-sync says" : "brings the folder") + ", on both machines")
        }
        let times = status.members.filter { !$0.isRemoved && $0.number != status.number }.map { member in
            member.heads.values.map(\.time).max()
        }
        if times.isEmpty { return Check("agreement", true, "there is no other machine") }
        let heard = times.compactMap(\.self)
        guard let oldest = heard.min(), heard.count == times.count else {
            return Check(
                "agreement", true, "\(times.count - heard.count) of \(times.count) other machines have said nothing yet"
            )
        }
        return Check("agreement", true, "all machines agree, as of \(Timestamp(oldest).iso8601) or later")
    }

    private func clock() -> Check {
        let limit = Date().addingTimeInterval(600)
        let ahead = status.members.flatMap { member in
            member.heads.values.filter { $0.time > limit }.map { (member.number, $0.time) }
        }
        guard let (number, time) = ahead.max(by: { $0.1 < $1.1 }) else {
            return Check("clock", true, "no machine has said anything from the future")
        }
        return Check(
            "clock", false,
            "member \(number) said something at \(Timestamp(time).iso8601): its clock is ahead, or this machine's is behind. "
                + "Compare `date` on both; of two changes, the one with the later time is in force")
    }

    private func size() -> Check {
        status.tooLarge == 0
            ? Check("size", true, "no item is too large to travel")
            : Check(
                "size", false,
                "\(status.tooLarge) items have more than 512 KiB and stay here: keep the data in a file, and its key in the item"
            )
    }

    private func waiting() -> Check {
        if status.outgoing > 0 {
            return Check(
                "waiting", false,
                "\(status.outgoing) parts were not written: see the line about \(look.isThroughEtcd ? "etcd" : "the folder")"
            )
        }
        return status.waiting == 0
            ? Check("waiting", true, "nothing waits")
            : Check("waiting", true, ListCircleCommand.waiting(status.waiting))
    }
}
