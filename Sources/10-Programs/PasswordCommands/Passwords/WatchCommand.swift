import ArgumentParser
import Bytes
import CommandKit
import FoundationEssentials
import KeychainModel
import VaultInterface

/// Prints what changes in the vault.
struct WatchCommand: DocumentedCommand {
    static let summary = "Print a line for each item that changes, until it is ended."
    static let details = """
        One line for each item that changed, as soon as it did: the number of the change; changed or deleted; the \
        class; the identifier; and of items that are there and can be read, the service or label, the account and the \
        access group. Fields are separated by tabs. Secrets are not shown. Of an item that changes several times in a \
        row, perhaps only the last change is told. A deletion is also told for an item that moved to another group.

        With --since, the command begins with what has changed since that number: the first field of the last line of \
        an earlier run. 0 begins with all items that are there. So nothing is missed in between. If the vault does not \
        know any more what was deleted since then, the line says everything: read all items again. That is so after an \
        erase, and after a restore from a backup.

        The command goes on when keychaind is restarted, and fails if it is away for a minute.
        """
    static let examples = [
        Example("Follow what happens", "keychain watch"),
        Example("What changed since the last time", "keychain watch --since 1042 --once --json"),
    ]
    static let configuration: CommandConfiguration = documented("watch")

    @Option(help: ArgumentHelp("Begin with what has changed since this number.", valueName: "number"))
    var since: Int64?

    @Flag(help: "Print what has changed since --since, and end.")
    var once = false

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    /// How long the vault may be out of reach, in seconds.
    private static let patience = 60

    private struct Line: Encodable {
        var change: Int64
        var everything: Bool?
        var deleted: Bool?
        var itemClass: String?
        var identifier: String?
        var version: Int64?
        var overruled: Int64?
        var service: AttributeText?
        var account: AttributeText?
        var group: String?

        private enum CodingKeys: String, CodingKey {
            case change, everything, deleted, identifier, version, overruled, service, account, group
            case itemClass = "class"
        }

        var row: [String] {
            guard everything == nil else { return ["\(change)", "everything"] }
            return [
                "\(change)", deleted == true ? "deleted" : "changed", itemClass ?? "", identifier ?? "",
                service?.forTerminal ?? "", account?.forTerminal ?? "", group?.escapedForTerminal ?? "",
            ]
        }
    }

    func validate() throws {
        guard since ?? 0 >= 0 else { throw ValidationError("--since takes a number from 0 on") }
        guard !once || since != nil else { throw ValidationError("--once goes with --since") }
    }

    func run() throws {
        try OtherTool.refuseUnknownCopy(nil, "nothing is told")
        let unlocking = try VaultSession.ofOwnerInPresentVault(passcode)
        if passcode.descriptor != nil { _ = try unlocking.unlockIfPossible() }
        // Names of locked items are left out: nobody is asked for each change.
        let session = unlocking.withoutUnlocking
        // Before the first look, so that no change falls in between.
        let notices = once ? nil : try ChangeNotices(session.vault.changes())
        var known = try since ?? session.perform(ChangesSince(.max)).known.next
        if since != nil { known = try show(since: known, session) }
        guard let notices else { return }
        // Since when the vault has been out of reach.
        var lost: ContinuousClock.Instant?
        while true {
            notices.wait(milliseconds: lost == nil ? -1 : 500)
            do {
                known = try show(since: known, session)
                lost = nil
            } catch let error as VaultError where Self.mayPass(error) {
                let first = lost ?? .now
                lost = first
                guard first.duration(to: .now) < .seconds(Self.patience) else { throw error }
            }
        }
    }

    /// Whether the vault may answer again later, as when a daemon is restarted.
    private static func mayPass(_ error: VaultError) -> Bool {
        switch error {
        case .inputOutput, .unusableVault, .busy, .memoryUnavailable, .diskFull: true
        default: false
        }
    }

    /// Prints what has changed.
    ///
    /// - Returns: The number from which to go on.
    private func show(since number: Int64, _ session: VaultSession) throws -> Int64 {
        let (items, known) = try session.perform(ChangesSince(number))
        guard known.isComplete else {
            try write(Line(change: known.next, everything: true))
            return known.next
        }
        for item in items { try write(line(of: item, session)) }
        return known.next
    }

    private func line(of item: ChangedItem, _ session: VaultSession) -> Line {
        var line = Line(
            change: item.change, deleted: item.isDeleted, itemClass: item.itemClass.rawValue,
            identifier: item.identifier.uuidString, version: item.isDeleted ? nil : item.version,
            overruled: item.overruled == 0 ? nil : item.overruled)
        guard !item.isDeleted else { return line }
        var query = ItemQuery(itemClass: item.itemClass, synchronizable: .any, identifier: item.identifier)
        query.authentication = AuthenticationOptions(interaction: .skip)
        guard let found = try? session.perform(CopyItems(query, includingValues: false)).first else { return line }
        let names: [AttributeName] = [.service, .server, .label]
        line.service = names.lazy.compactMap { found.attributes[$0] }.first.map(AttributeText.init)
        line.account = found.attributes[.account].map(AttributeText.init)
        line.group = found.accessGroup
        return line
    }

    private func write(_ line: Line) throws {
        if json { return try StandardOutput.write(json: line) }
        try StandardOutput.write(line: line.row.joined(separator: "\t"))
    }
}
