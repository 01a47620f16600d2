import CommandKit
import FoundationEssentials
import KeychainModel

/// `dump-keychain`.
struct DumpKeychain: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "adh")
    let usage = "[-a] [-d] [keychain ...]"

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        let includesValues = options.contains("d")
        for keychain in try tool.searched(options.operands) {
            if keychain.place == .login { try OtherTool.refuseUnknownCopy(nil, "nothing is shown") }
            for itemClass in ItemClass.stored {
                let query = ItemQuery(itemClass: itemClass, synchronizable: .any)
                for item in try keychain.items(query, includingValues: includesValues) {
                    try tool.print(ItemText(item, keychain: keychain.path).lines)
                    if includesValues { try tool.print("data:\n" + PrintedBytes(item.value ?? Data()).text) }
                }
            }
        }
    }
}
