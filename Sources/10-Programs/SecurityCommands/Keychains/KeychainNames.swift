import Bytes
import CLibrary
import CommandKit
import FoundationEssentials
import KeychainDaemon
import ProcessVault
import StatusCodes
import TrustSettings

/// A keychain that a command line names.
enum KeychainPlace: Hashable, Sendable {
    /// The process's vault.
    case login
    /// The vault in a folder of its own.
    case folder(String)
}

/// Finds keychains by their names, as macOS does: a bare name is in the folder of keychains, and a path is taken as
/// given.
struct KeychainNames: Sendable {
    /// Where keychains with bare names are.
    let folder: String
    private let home: String

    private static let loginNames: Set<Substring> = ["login", "login.keychain", "login.keychain-db", "default"]

    /// - Parameter home: The folder of the process's vault.
    init(home: String) {
        self.home = home
        folder = KeychainsFolder.path(besideVaultAt: home)
    }

    static func standard() throws -> KeychainNames {
        try securing("SecKeychainCopyDefault") { KeychainNames(home: try ProcessVault.defaultPath()) }
    }

    /// Returns the folder of the keychain with this name, whether or not it exists.
    ///
    /// - Throws: ``SecurityFailure`` for a name that no keychain can have.
    func path(of name: String) throws -> String {
        let parts = name.split(separator: "/")
        guard var last = parts.last, last != ".", !parts.contains(".."),
            !name.unicodeScalars.contains(where: { $0.value == 0 || $0.controlsTerminal })
        else {
            throw SecurityFailure.operation(
                "SecKeychainOpen \(name.escapedForTerminal)", status: errSecParam,
                reason: "a name of a keychain has no '..' and no control characters: give another one")
        }
        if last.hasSuffix(".keychain") {
            last += "-db"
        } else if !name.contains("/"), !last.hasSuffix(".keychain-db") {
            last += ".keychain-db"
        }
        guard name.contains("/") else { return "\(folder)/\(last)" }
        let start = name.hasPrefix("/") ? "" : FileManager.default.currentDirectoryPath
        return (parts.dropLast().filter { $0 != "." } + [last]).reduce(into: start == "/" ? "" : start) {
            $0 += "/" + $1
        }
    }

    /// Returns the keychain with this name.
    ///
    /// - Parameter served: The folder of the process's vault as its daemon names it.
    /// - Throws: ``SecurityFailure`` if there is none.
    func place(of name: String, served: String) throws -> KeychainPlace {
        if name == served || name == home { return .login }
        let path = try path(of: name)
        if Self.isKeychain(path) { return .folder(path) }
        if Self.isLogin(name) { return .login }
        throw Self.missing(name)
    }

    /// Whether scripts mean the user's own keychain by the name.
    static func isLogin(_ name: String) -> Bool { loginNames.contains(name.split(separator: "/").last ?? "") }

    static func missing(_ name: String) -> SecurityFailure {
        .operation(
            "SecKeychainOpen \(name.escapedForTerminal)", status: errSecNoSuchKeychain,
            reason: "The specified keychain could not be found.")
    }

    /// Whether there is a vault in the folder at `path`, which is no link.
    static func isKeychain(_ path: String) -> Bool {
        var info = stat()
        guard lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFDIR else { return false }
        return isMade(path) || access(path + "/keybag", F_OK) == 0
    }

    /// Whether `create-keychain` made the vault in the folder at `path`.
    static func isMade(_ path: String) -> Bool { access("\(path)/\(KeychainSettings.file)", F_OK) == 0 }
}
