import ArgumentParser
import Bytes
import CommandKit
import KeyCommands
import KeychainModel
import ProcessVault
import StatusCodes
import VaultInterface

/// Shows the state of the vault and checks it.
struct StatusCommand: DocumentedCommand {
    static let summary = "Show where the vault is, what protects it and what is in it."
    static let details = """
        With --verify, every item is opened and checked. The exit status is 1 if one of them is damaged. \
        --delete-damaged first deletes the items that the vault's keys cannot open: items that were changed on disk, \
        and items of another vault or of a later version. On a terminal you have to type 'delete', unless --yes is \
        given.

        Items of a locked vault are not checked, and stay: the exit status is 36 then, if nothing is damaged. Where no \
        daemon serves the vault, --verify asks for the passcode, or takes it with --passcode-fd.

        A line 'group' says how many items an access group has, and how many bytes count for its quota, with former \
        versions. The quota is the lowest of the rules for that group. In a locked vault some groups have no name. A \
        program that is not the owner's tool sees the groups that it may list, with its own quota.

        A line 'problem' says what to mend while the vault still works: the device secret is not in its place, so that \
        nobody can open the vault once the daemon ends; or the entitlements file has a mistake, so that the rules \
        before it stay in force.

        With --check the command prints nothing but a problem, for monitors. The exit status is 0 if the vault is \
        unlocked, 36 if it is locked, 65 if it or, with --verify, an item is damaged or the device secret is not in its \
        place, and 69 if it cannot be reached: there is no vault, no daemon answers, or its files or its TPM cannot be \
        used. A mistake in the entitlements is printed, and does not change the exit status.
        """
    static let examples = [
        Example("Look", "keychain status"),
        Example("Check every item, as a backup job should", "keychain status --verify"),
        Example("Restart a service when the vault is open", "keychain status --check && systemctl restart mail"),
    ]
    static let configuration: CommandConfiguration = documented("status")

    @Flag(help: "Open every item and report those that are damaged.")
    var verify = false

    @Flag(
        name: .customLong("delete-damaged"),
        help: "Delete the items that are damaged, for good; try a backup first. Implies --verify.")
    var deletesDamaged = false

    @Flag(help: "Do not ask before --delete-damaged.")
    var yes = false

    @Flag(help: "Print nothing but a problem; the exit status tells whether the vault is open, locked or damaged.")
    var check = false

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func validate() throws {
        guard !check || !deletesDamaged else {
            throw ValidationError("--check changes nothing: leave out --delete-damaged")
        }
    }

    func run() throws {
        if check { return try checkState() }
        let session = try session()
        if deletesDamaged, !yes {
            try Confirmation(
                loss: "The damaged items are then gone for good; a backup may have them whole.",
                word: "delete", verb: "deleted"
            ).ask(unattended: .goesOn)
        }
        let deleted: Int? =
            if deletesDamaged {
                try session.perform(DeleteDamagedItems())
            } else {
                nil
            }
        let status = try session.perform(ReadStatus())
        let condition = session.condition
        // A daemon of an earlier version does not know the operation, and another program may list no group.
        let groups = (try? session.perform(ReadUsage())) ?? []
        let report: IntegrityReport? =
            if verify || deletesDamaged {
                try session.perform(VerifyItems())
            } else {
                nil
            }
        if json {
            try StandardOutput.write(json: StatusAnswer(status, condition, groups, report, deleted))
        } else {
            try StandardOutput.write(
                line: Table(
                    rows(status, condition, groups, Self.pairs(status, session), report, deleted)
                ).text(aligned: true))
        }
        try OtherTool.refuseUnknownCopy(nil, "the daemon tells this program of no items")
        if let tool = OtherTool.served { CommandNote.show(tool.note) }
        if let report { try checkWhole(report, status) }
    }

    /// The vault, unlocked if the passcode was given, or if items are to be checked and somebody can give it.
    private func session() throws -> VaultSession {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        guard verify || deletesDamaged || passcode.descriptor != nil else { return session }
        let status = try session.perform(ReadStatus())
        // The daemon's lock is for all its clients.
        if status.isPasscodeSet, status.lockState != .unlocked, !status.isShared { _ = try session.unlockIfPossible() }
        return session
    }

    private func checkWhole(_ report: IntegrityReport, _ status: VaultStatus) throws {
        guard report.problems.isEmpty else { throw damage(report) }
        // In a vault that is unlocked, those with a password or an enrolment of their own.
        let count = report.lockedItems
        guard count > 0, status.lockState != .unlocked else { return }
        throw Failure(
            status: errSecInteractionNotAllowed,
            "the vault is locked, and \(count) \(count == 1 ? "item was" : "items were") not checked: unlock it with "
                + "`keychain unlock` if keychaind runs, or give the passcode with --passcode-fd")
    }

    private func damage(_ report: IntegrityReport) -> Failure {
        let count = report.problems.count
        return Failure(
            status: errSecDecode,
            "the vault has \(count) damaged \(count == 1 ? "part" : "parts"): restore it from a backup"
                + (deletesDamaged ? "" : ", or delete what is damaged with --delete-damaged"))
    }

    /// - Throws: ``Failure`` with an exit status for each state but an open vault.
    private func checkState() throws {
        let status: VaultStatus
        do {
            let session = try session()
            status = try session.perform(ReadStatus())
            let problems = session.condition.problems
            for problem in problems where problem.kind == .entitlements {
                CommandNote.show(problem.text.escapedForTerminal)
            }
            if let problem = problems.first(where: { $0.kind == .deviceSecret }) {
                throw Failure(status: errSecDecode, problem.text.escapedForTerminal)
            }
            if verify {
                let report = try session.perform(VerifyItems())
                if !report.problems.isEmpty { throw damage(report) }
            }
        } catch {
            var failure = Failure(error)
            let isDamaged =
                switch error {
                case VaultError.corruptVault, VaultError.corruptItem: true
                default: failure.status == errSecDecode
                }
            failure.exitCode = isDamaged ? ExitStatus.damaged : ExitStatus.unreachable
            throw failure
        }
        guard status.lockState == .unlocked else {
            throw Failure(
                status: errSecInteractionNotAllowed,
                "the vault is \(status.lockState.words): unlock it with `keychain unlock` if keychaind runs")
        }
    }

    private func passcode(_ status: VaultStatus, _ condition: VaultCondition) -> String {
        guard status.isPasscodeSet else { return "not set" }
        var words = "set"
        if let cost = condition.cost {
            words +=
                ", a try takes \(cost.memoryKiB >> 10) MiB and \(cost.passes) \(cost.passes == 1 ? "pass" : "passes")"
        }
        if let limit = condition.eraseAfter { words += ", \(limit) wrong in a row erase everything" }
        if status.failedAttempts > 0 { words += ", \(status.failedAttempts) wrong since the last right one" }
        if status.retryAfter > 0 { words += ", next try in \(status.retryAfter) s" }
        return words
    }

    /// Returns nothing if this tool may not know.
    private func recovery(_ status: VaultStatus) -> String {
        switch status.recoveryKey {
        case .undisclosed: ""
        case .absent: "no key: `keychain recovery create`"
        case .made(let seconds): "a key since \(Timestamp(secondsSince1970: seconds).shown)"
        }
    }

    private func daemon(_ status: VaultStatus) -> String {
        guard status.isShared else {
            return ProcessVault.variableAgainstDaemon().map { "not asked, because \($0) is set" }
                ?? "none serves this vault"
        }
        guard let tool = OtherTool.served else { return "answers" }
        return "answers, and takes this program for \(tool.name)"
    }

    /// - Parameter pairs: The number of keys, or nil if not all items of keys can be read.
    private static func keys(_ pairs: Int?, of items: Int) -> String {
        let words = "\(items) \(items == 1 ? "item" : "items")"
        guard let pairs else { return "\(words) of keys" }
        return ItemClass.key.counted(pairs) + (pairs == items ? "" : " (\(words))")
    }

    /// Returns how many keys there are; each has one or two items.
    private static func pairs(_ status: VaultStatus, _ session: VaultSession) -> Int? {
        guard status.itemCounts[.key] ?? 0 > 0 else { return 0 }
        return session.keyPairCount
    }

    /// The groups that hold the most; --json has all.
    private static func rows(_ groups: [GroupUsage]) -> [[String]] {
        let sorted = groups.sorted { ($1.bytes, $0.group ?? "") < ($0.bytes, $1.group ?? "") }
        var rows = sorted.prefix(mostGroups).map { group in
            let name = group.group.map { "'\($0.escapedForTerminal)'" } ?? "one whose name is locked"
            let limit = group.quota.map { " of \($0)" } ?? ""
            return [
                "group", "\(name): \(group.items) \(group.items == 1 ? "item" : "items"), \(group.bytes)\(limit) bytes",
            ]
        }
        if sorted.count > mostGroups { rows.append(["group", "\(sorted.count - mostGroups) more: --json shows them"]) }
        return rows
    }

    private static let mostGroups = 20

    private func rows(
        _ status: VaultStatus, _ condition: VaultCondition, _ groups: [GroupUsage], _ pairs: Int?,
        _ report: IntegrityReport?, _ deleted: Int?
    ) -> [[String]] {
        let counts = ItemClass.stored.map { kind in
            let count = status.itemCounts[kind] ?? 0
            return kind == .key ? Self.keys(pairs, of: count) : kind.counted(count)
        }
        let provider = KeyCommands.otherSecretService()
        // A daemon says where the vault is only to who may unlock or administer it.
        let place = status.isShared ? nil : "in memory"
        var rows = (status.path?.escapedForTerminal ?? place).map { [["vault", $0]] } ?? []
        rows += [
            ["format", "\(status.formatVersion)"],
            ["enclave", status.enclave],
            ["lock", status.lockState.words],
            ["passcode", passcode(status, condition)],
            ["recovery", recovery(status)],
            ["daemon", daemon(status)],
            ["on the bus", provider.map { "\($0.escapedForTerminal) has the Secret Service" } ?? ""],
            // What the daemon does not tell must not look lost.
            ["items", OtherTool.served?.isUnknownCopy == true ? "" : counts.joined(separator: ", ")],
        ].filter { !$0[1].isEmpty }
        rows += Self.rows(groups)
        rows += condition.problems.map { ["problem", $0.text.escapedForTerminal] }
        guard let report else { return rows }
        if let deleted { rows.append(["deleted", "\(deleted) damaged"]) }
        rows.append(
            [
                "checked",
                "\(report.validItems) valid, \(report.lockedItems) locked, \(report.problems.count) damaged",
            ])
        return rows + report.problems.map { ["damaged", $0.escapedForTerminal] }
    }
}

/// The status as `--json` shows it.
private struct StatusAnswer: Encodable {
    struct Integrity: Encodable {
        var valid: Int
        var locked: Int
        var problems: [String]
        /// How many damaged items were deleted first; absent without --delete-damaged.
        var deleted: Int?
    }

    struct Group: Encodable {
        /// Absent if its name is locked.
        var group: String?
        var items: Int
        var bytes: Int
        /// Absent for no limit.
        var quota: Int?
    }

    struct Problem: Encodable {
        var kind: String
        var text: String
    }

    var vault: String?
    var format: Int
    var enclave: String
    var lock: String
    var passcode: Bool
    /// The memory that a try of the passcode takes in MiB, and the passes over it. Absent if this tool may not know.
    var passcodeMemory: Int?
    var passcodePasses: Int?
    /// The number of wrong passcodes in a row that erases everything; absent for never.
    var eraseAfter: Int?
    var failedAttempts: Int
    var retryAfter: Int
    var daemon: Bool
    /// Whom the daemon takes this program for; absent if it takes it for the owner's tool.
    var caller: String?
    /// The program that has the Secret Service on the session bus; absent if it is this daemon, or none.
    var secretService: String?
    /// Absent if this tool may not know.
    var recoveryKey: Bool?
    var recoveryKeySince: String?
    /// Absent if this tool may not know.
    var items: [String: Int]?
    /// Absent if this tool may list none.
    var groups: [Group]?
    /// Absent if there is none, or if this tool may not know.
    var problems: [Problem]?
    var integrity: Integrity?

    init(
        _ status: VaultStatus, _ condition: VaultCondition, _ groups: [GroupUsage], _ report: IntegrityReport?,
        _ deleted: Int?
    ) {
        if !groups.isEmpty {
            self.groups = groups.map { Group(group: $0.group, items: $0.items, bytes: $0.bytes, quota: $0.quota) }
                .sorted { ($0.group ?? "") < ($1.group ?? "") }
        }
        if !condition.problems.isEmpty {
            problems = condition.problems.map { Problem(kind: $0.kind.name, text: $0.text) }
        }
        passcodeMemory = condition.cost.map { Int($0.memoryKiB >> 10) }
        passcodePasses = condition.cost.map { Int($0.passes) }
        eraseAfter = condition.eraseAfter.map(Int.init)
        vault = status.path
        format = status.formatVersion
        enclave = status.enclave
        lock = status.lockState.rawValue
        passcode = status.isPasscodeSet
        failedAttempts = status.failedAttempts
        retryAfter = status.retryAfter
        daemon = status.isShared
        caller = OtherTool.served?.caller.identifier
        secretService = KeyCommands.otherSecretService()
        switch status.recoveryKey {
        case .undisclosed: break
        case .absent: recoveryKey = false
        case .made(let seconds):
            recoveryKey = true
            recoveryKeySince = Timestamp(secondsSince1970: seconds).iso8601
        }
        if OtherTool.served?.isUnknownCopy != true {
            items = Dictionary(
                uniqueKeysWithValues: ItemClass.stored.map { ($0.rawValue, status.itemCounts[$0] ?? 0) })
        }
        integrity = report.map {
            Integrity(valid: $0.validItems, locked: $0.lockedItems, problems: $0.problems, deleted: deleted)
        }
    }
}

extension ItemClass {
    func counted(_ count: Int) -> String {
        let (one, several) =
            switch self {
            case .genericPassword: ("password", "passwords")
            case .internetPassword: ("internet password", "internet passwords")
            case .certificate: ("certificate", "certificates")
            case .key: ("key", "keys")
            case .identity: ("identity", "identities")
            }
        return "\(count) \(count == 1 ? one : several)"
    }
}

extension LockState {
    fileprivate var words: String {
        switch self {
        case .beforeFirstUnlock: "locked since the start"
        case .locked: "locked"
        case .unlocked: "unlocked"
        }
    }
}
