import Bytes
import CommandKit
import KeychainDaemon
import PrivateFiles
import ProcessVault
import StatusCodes
import VaultInterface

/// `create-keychain`: makes keychains, adds them to the search list, and unlocks them, as macOS does.
struct CreateKeychain: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "Ph", values: "p")
    let usage = "[-P] [-p password] keychain ..."

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        guard !options.operands.isEmpty else { throw SecurityFailure.usage("name a keychain to make") }
        let names = try KeychainNames.standard()
        // Before anybody is asked for a password.
        let paths = try options.operands.map { name in
            let path = try names.path(of: name)
            guard !KeychainNames.isLogin(name) || name.contains("/") else {
                throw SecurityFailure.status(
                    errSecDuplicateKeychain, during: "SecKeychainCreate \(name.escapedForTerminal)")
            }
            return path
        }
        let password = try GivenPassword(options.contains("P") ? nil : options.value("p"))
            .newSecret("password for new keychain: ", "retype password for new keychain: ")
        for path in paths {
            try securing("SecKeychainCreate \(path.escapedForTerminal)") {
                try SearchList.change(in: names) { list in
                    try KeychainFolder(path: path).make(password)
                    list.add(.folder(path))
                }
            }
            guard !password.isEmpty else { continue }
            try UnlockKeychain.unlock(tool.open(.folder(path)), password)
        }
    }
}

/// `delete-keychain`.
struct DeleteKeychain: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "h")
    let usage = "keychain ..."

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        guard !options.operands.isEmpty else { throw SecurityFailure.usage("name a keychain to delete") }
        for name in options.operands {
            guard case .folder(let path) = try tool.place(name), KeychainNames.isMade(path) else {
                throw SecurityFailure.other(
                    "SecKeychainDelete \(name.escapedForTerminal): create-keychain did not make this keychain, and "
                        + "delete-keychain leaves it: `keychain erase` destroys what is in it")
            }
            try securing("SecKeychainDelete \(path.escapedForTerminal)") {
                try SearchList.change(in: .standard()) { list in
                    // First, so that no list names what is half deleted.
                    list.remove(.folder(path))
                    try KeychainFolder(path: path).destroy()
                }
            }
        }
    }
}

extension KeychainFolder {
    var settings: KeychainSettings {
        get throws {
            do {
                return try KeychainSettings(in: PrivateFolder(existing: path))
            } catch is DecodingError {
                throw SecurityFailure.other(
                    "\(path.escapedForTerminal)/\(KeychainSettings.file) is damaged: set-keychain-settings writes it "
                        + "anew")
            }
        }
    }
}
