import CommandKit
import FoundationEssentials
import KeychainModel
import StoredKeys
import VaultInterface

/// `find-generic-password` and `find-internet-password`: the first item with all given attributes.
struct FindPassword: SecuritySubcommand {
    let kind: PasswordKind

    var grammar: ShortOptions.Grammar {
        ShortOptions.Grammar(flags: "gwh", values: kind.attributeLetters)
    }

    var usage: String { kind.searchUsage + " [-g] [-w] [keychain ...]" }

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        let onlyPassword = options.contains("w")
        let showsPassword = onlyPassword || options.contains("g")
        let (item, keychain) = try kind.first(options, includingValues: showsPassword, tool)
        let password = item.value ?? Data()
        if onlyPassword {
            return try tool.print(PasswordText(password).alone)
        }
        try tool.print(ItemText(item, keychain: keychain.path).lines)
        if showsPassword {
            tool.complain(plain: "password: " + PasswordText(password).described)
        }
    }
}

/// `delete-generic-password` and `delete-internet-password`: the first item with all given attributes.
struct DeletePassword: SecuritySubcommand {
    let kind: PasswordKind

    var grammar: ShortOptions.Grammar {
        ShortOptions.Grammar(flags: "h", values: kind.attributeLetters)
    }

    var usage: String { kind.searchUsage + " [keychain ...]" }

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        let (item, keychain) = try kind.first(options, includingValues: false, tool)
        if let purpose = KeyPurpose(item) {
            let account = item.attribute(.account).map { AttributeText($0).forTerminal }
            let name = "'\(item.attribute(.service).map { AttributeText($0).forTerminal } ?? "")' '\(account ?? "")'"
            throw SecurityFailure(purpose.refusal(name, account: account))
        }
        try securing("SecKeychainItemDelete") {
            _ = try keychain.session.perform(DeleteItems(ItemQuery(item: item)))
        }
        try tool.print(ItemText(item, keychain: keychain.path).lines)
        tool.complain(plain: "password has been deleted.")
    }
}

extension PasswordKind {
    fileprivate var searchUsage: String {
        itemClass == .genericPassword
            ? "[-s service] [-a account] [-l label] [-j comment] [-D kind] [-G value] [-c creator] [-C type]"
            : "[-s server] [-a account] [-r protocol] [-P port] [-p path] [-d domain] [-t authentication] "
                + "[-l label] [-j comment] [-D kind] [-c creator] [-C type]"
    }

    fileprivate func first(
        _ options: ShortOptions, includingValues: Bool, _ tool: SecurityTool
    ) throws -> (item: StoredItem, keychain: OpenedKeychain) {
        let attributes = try attributes(options)
        return try tool.first(options.operands) { keychain in
            let query = ItemQuery(
                itemClass: itemClass, attributes: attributes, accessGroup: try keychain.group, synchronizable: .any,
                limit: 1)
            // Says why an item is not found that is there.
            let found = try securing("SecKeychainSearchCopyNext") {
                try keychain.session.perform(CopyItems(query, includingValues: includingValues))
            }
            return found.first.map { ($0, keychain) }
        }
    }
}
