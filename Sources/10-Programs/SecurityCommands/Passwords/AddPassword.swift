import Bytes
import CommandKit
import FoundationEssentials
import KeychainModel
import StoredKeys
import VaultInterface

/// `add-generic-password` and `add-internet-password`.
struct AddPassword: SecuritySubcommand {
    let kind: PasswordKind

    private static let operation = "SecKeychainItemCreateFromContent (<default>)"

    var grammar: ShortOptions.Grammar {
        // -p is an older name of -w for generic passwords and the path of internet passwords.
        ShortOptions.Grammar(
            flags: "AUh", values: kind.attributeLetters + "TX", promptable: isGeneric ? "wp" : "w")
    }

    private var isGeneric: Bool { kind.itemClass == .genericPassword }

    var usage: String {
        isGeneric
            ? "-s service -a account [-w [password]] [-X hex] [-U] [-l label] [-j comment] [-D kind] [-G value] "
                + "[-c creator] [-C type] [-A] [-T application] [keychain]"
            : "-s server -a account [-w [password]] [-X hex] [-U] [-r protocol] [-P port] [-p path] [-d domain] "
                + "[-t authentication] [-l label] [-j comment] [-D kind] [-c creator] [-C type] [-A] "
                + "[-T application] [keychain]"
    }

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        guard options.operands.count <= 1 else { throw SecurityFailure.usage("name one keychain") }
        var given = try kind.attributes(options)
        guard given[.account] != nil, let subject = given[kind.subject.name] else {
            throw SecurityFailure.usage("-a account and -\(kind.subject.letter) \(kind.subject.word) are needed")
        }
        let password = try password(options)
        let keychain = try tool.keychain(options.operands.first)
        if keychain.place == .login { try OtherTool.refuseUnknownCopy() }
        let session = keychain.session
        if !isGeneric, given[.authenticationType] == nil { given[.authenticationType] = .string("dflt") }

        let existing = try existing(given, keychain)
        guard existing.isEmpty else {
            guard options.contains("U") else { throw SecurityFailure.vault(.duplicateItem, during: Self.operation) }
            return try update(existing, given, password, session)
        }
        if given[.label] == nil { given[.label] = subject }
        try securing(Self.operation) {
            _ = try session.perform(
                AddItem(NewItem(itemClass: kind.itemClass, attributes: given, value: password ?? Data())))
        }
    }

    /// Returns what is to be stored. The last of -w, -p and -X counts.
    private func password(_ options: ShortOptions) throws -> Data? {
        let letters: [Character] = isGeneric ? ["w", "p", "X"] : ["w", "X"]
        guard let option = options.options.last(where: { letters.contains($0.letter) }) else { return nil }
        guard let value = option.value else {
            return try SecurityPrompt.secretTwice("password data for new item: ", "retype password for new item: ")
        }
        guard option.letter == "X" else { return Data(value.utf8) }
        guard let bytes = [UInt8](hexadecimal: value.utf8) else {
            throw SecurityFailure.usage("-X takes an even number of hexadecimal digits")
        }
        return Data(bytes)
    }

    /// Returns the items with this primary key, without a daemon in any group: for `security` they are all in one
    /// keychain.
    private func existing(
        _ attributes: ItemAttributes, _ keychain: OpenedKeychain
    ) throws -> [StoredItem] {
        let query = ItemQuery(
            itemClass: kind.itemClass, attributes: kind.primaryKey(of: attributes), accessGroup: try keychain.group,
            synchronizable: .any)
        return try securing(Self.operation) { try keychain.items(query, includingValues: false) }
    }

    private func update(
        _ items: [StoredItem], _ attributes: ItemAttributes, _ password: Data?,
        _ session: VaultSession
    ) throws {
        guard let item = items.first, items.count == 1 else {
            throw SecurityFailure(Ambiguity(items: items).failure(remedy: "`keychain set --group`"))
        }
        if let purpose = KeyPurpose(item), purpose != .cipherFile {
            throw SecurityFailure(purpose.replacementRefusal("this item"))
        }
        try securing("SecKeychainItemModifyContent") {
            _ = try session.perform(
                UpdateItems(ItemQuery(item: item), with: ItemChanges(attributes: attributes, value: password)))
        }
    }
}

/// Prompts as readpassphrase(3) does: at the terminal, or without one from standard input.
enum SecurityPrompt {
    static func secretTwice(_ first: String, _ second: String) throws -> Data {
        guard let terminal = CommandTerminal() else {
            let secret = try SecretInput.readAll(0, keepingNewline: true)
            guard !secret.isEmpty else {
                throw Failure.usage("no password: there is no terminal to ask at, and standard input is empty")
            }
            return secret.prefix { $0 != UInt8(ascii: "\n") }
        }
        while true {
            let typed = try terminal.askSecrets([first, second])
            if let secret = typed.first, secret == typed.last { return secret }
            try FileOutput.write(Data("passwords don't match\n".utf8), to: 2)
        }
    }
}
