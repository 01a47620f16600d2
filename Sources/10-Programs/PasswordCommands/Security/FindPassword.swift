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
        try tool.checkKeychains(options.operands)
        let onlyPassword = options.contains("w")
        let showsPassword = onlyPassword || options.contains("g")
        let session = try VaultSession.ofOwner()
        let item = try kind.first(options, includingValues: showsPassword, session)
        let password = item.value ?? Data()
        if onlyPassword {
            return try tool.print(PasswordText(password).alone)
        }
        try tool.print(ItemText(item, keychain: tool.keychainPath()).lines)
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
        try tool.checkKeychains(options.operands)
        let session = try VaultSession.ofOwner()
        let item = try kind.first(options, includingValues: false, session)
        if let purpose = KeyPurpose(item) {
            let account = item.attribute(.account).map { AttributeText($0).forTerminal }
            let name = "'\(item.attribute(.service).map { AttributeText($0).forTerminal } ?? "")' '\(account ?? "")'"
            throw SecurityFailure(purpose.refusal(name, account: account))
        }
        try securing("SecKeychainItemDelete") {
            _ = try session.perform(DeleteItems(ItemQuery(item: item)))
        }
        try tool.print(ItemText(item, keychain: tool.keychainPath()).lines)
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
        _ options: ShortOptions, includingValues: Bool, _ session: VaultSession
    ) throws -> StoredItem {
        let query = ItemQuery(
            itemClass: itemClass, attributes: try attributes(options), accessGroup: try session.ownGroup,
            synchronizable: .any, limit: 1)
        let found = try securing("SecKeychainSearchCopyNext") {
            try session.perform(CopyItems(query, includingValues: includingValues))
        }
        guard let item = found.first else {
            throw SecurityFailure.vault(.itemNotFound, during: "SecKeychainSearchCopyNext")
        }
        return item
    }
}
