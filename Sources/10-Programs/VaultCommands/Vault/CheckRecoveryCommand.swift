import ArgumentParser
import CommandKit
import KeyCommands
import KeychainModel
import StatusCodes
import VaultInterface
import VaultKeys

/// Names what a recovery does not bring back.
struct CheckRecoveryCommand: DocumentedCommand {
    static let summary = "Show which items a recovery on another machine does not bring back."
    static let details = """
        Lists the items for this device only, and the keys of its enclave: a recovery key does not open them. Neither \
        does a backup, except one that was made with --for-this-device. One line for each item: its kind; its service \
        or server, or else its label; its account; and its access group. On the new machine nobody can name them any \
        more.
        """
    static let examples = [
        Example("Look before the machine is gone", "keychain recovery check"),
        Example("For a script", "keychain recovery check --json | jq length"),
    ]
    static let configuration: CommandConfiguration = documented("check")

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Lost: Encodable {
        var kind: String
        var name: AttributeText?
        var account: AttributeText?
        var group: String

        init(_ item: StoredItem) {
            kind = item.isEnclaveKey ? "key in the enclave" : item.itemClass.counted(1).dropFirst(2).description
            (name, account) = item.names
            group = item.accessGroup
        }

        var row: [String] {
            [kind, name?.forTerminal ?? "", account?.forTerminal ?? "", group.escapedForTerminal]
        }
    }

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        if let tool = OtherTool.served {
            throw Failure(status: errSecMissingEntitlement, "nothing is checked: \(tool.note)")
        }
        if case .absent = try session.perform(ReadStatus()).recoveryKey {
            CommandNote.show("there is no recovery key: `keychain recovery create`")
        }
        var damaged = 0
        let lost = try ItemClass.stored.flatMap { try Self.lost($0, session) { damaged += 1 } }
        if damaged > 0 {
            CommandNote.show("damaged items are left out, \(damaged) of them: `keychain status --verify` names them")
        }
        if json { return try StandardOutput.write(json: lost) }
        let rows = lost.map(\.row).sorted { $0.lexicographicallyPrecedes($1) }
        guard !rows.isEmpty else {
            guard damaged == 0 else { return }
            return CommandNote.show("a recovery brings back every item of this vault")
        }
        CommandNote.show(
            "a recovery on another machine does not bring back \(rows.count == 1 ? "this item" : "these items"):")
        try StandardOutput.write(Table(rows))
    }

    private static func lost(
        _ itemClass: ItemClass, _ session: VaultSession, damaged: () -> Void
    ) throws -> [Lost] {
        let found = try session.described(ItemQuery(itemClass: itemClass, synchronizable: .any)) { part in
            if case .damage = part { damaged() }
        }
        let items = found.filter { $0.accessControl.protection.isThisDeviceOnly || $0.isEnclaveKey }
        guard itemClass == .key else { return items.map(Lost.init) }
        // A key has two halves: the private one tells where it is.
        var seen: Set<AttributeValue> = []
        return (items.filter(\.isEnclaveKey) + items.filter { !$0.isEnclaveKey })
            .filter { item in item.attribute(.applicationLabel).map { seen.insert($0).inserted } ?? true }.map(
                Lost.init)
    }
}
