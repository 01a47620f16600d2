import CommandKit
import FoundationEssentials
import KeychainModel
import VaultInterface

/// `dump-keychain`.
struct DumpKeychain: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "adh")
    let usage = "[-a] [-d] [keychain ...]"

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        try tool.checkKeychains(options.operands)
        let session = try VaultSession.ofOwner()
        try OtherTool.refuseUnknownCopy(nil, "nothing is shown")
        let path = try tool.keychainPath()
        for itemClass in ItemClass.stored {
            for item in try items(itemClass, includingValues: options.contains("d"), session) {
                try tool.print(ItemText(item, keychain: path).lines)
                if options.contains("d") { try tool.print("data:\n" + PrintedBytes(item.value ?? Data()).text) }
            }
        }
    }

    private func items(
        _ itemClass: ItemClass, includingValues: Bool, _ session: VaultSession
    ) throws -> [StoredItem] {
        let query = ItemQuery(itemClass: itemClass, synchronizable: .any)
        do {
            return try session.perform(CopyItems(query, includingValues: includingValues))
        } catch {
            if error == .itemNotFound { return [] }
            throw SecurityFailure.vault(error, during: "SecKeychainSearchCopyNext")
        }
    }
}
