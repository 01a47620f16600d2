import Bytes
import CommandKit
import KeychainModel
import ProcessVault
import StatusCodes
import VaultInterface

/// `list-keychains`, `default-keychain` and `login-keychain`, which all name the one keychain that there is.
struct NameKeychain: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "sh", values: "d")
    let usage = "[-d domain] [-s [keychain ...]]"

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        try tool.checkKeychains(options.operands)
        guard !options.contains("s") else { return }
        try tool.print("    \"\(tool.keychainPath())\"")
    }
}

/// `lock-keychain`.
struct LockKeychain: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "ah")
    let usage = "[-a | keychain]"

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        try tool.checkKeychains(options.operands)
        let path = try tool.keychainPath()
        guard try tool.status().isPasscodeSet else {
            throw SecurityFailure.other("SecKeychainLock \(path): a vault without a passcode cannot be locked")
        }
        let session = try VaultSession.ofOwner()
        do {
            try session.perform(LockVault(after: .zero))
        } catch {
            throw SecurityFailure.vault(error, during: "SecKeychainLock \(path)")
        }
    }
}

/// `unlock-keychain`.
struct UnlockKeychain: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "uh", promptable: "p")
    let usage = "[-u] [-p password] [keychain]"

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        try tool.checkKeychains(options.operands)
        // A vault without a passcode is always unlocked, and there is no passcode to compare with.
        guard try tool.status().isPasscodeSet else { return }
        let path = try tool.keychainPath()
        let session = try VaultSession.ofOwner()
        let given: SecretBytes
        if let text = options.options.first(where: { $0.letter == "p" })?.value, let secret = try? SecretBytes(text) {
            given = secret
        } else {
            given = try PasscodeInput.none.ask("password to unlock \(path): ")
        }
        do {
            try session.perform(UnlockVault(with: given))
        } catch {
            throw SecurityFailure.vault(error, during: "SecKeychainUnlock \(path)")
        }
        session.showUnlockFindings()
    }
}

/// `show-keychain-info`, which macOS prints on standard error.
struct ShowKeychainInfo: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "h")
    let usage = "[keychain]"

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        try tool.checkKeychains(options.operands)
        // Looking makes no vault.
        if try ProcessVault.exists(), case let status = try tool.status(), status.isPasscodeSet,
            status.lockState != .unlocked
        {
            throw SecurityFailure.operation(
                "SecKeychainCopySettings \(try tool.keychainPath())", status: errSecInteractionNotAllowed,
                reason: "User interaction is not allowed.")
        }
        tool.complain(plain: "Keychain \"\(try tool.keychainPath())\" no-timeout")
    }
}

/// `set-keychain-settings`: without options it asks never to lock, which is so anyway. Scripts set a time before which
/// the keychain must not lock, so a time that is not kept is told and no error.
struct SetKeychainSettings: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "luh", values: "t")
    let usage = "[-l] [-u] [-t seconds] [keychain]"

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        try tool.checkKeychains(options.operands)
        guard !options.options.isEmpty else { return }
        guard try tool.status().isPasscodeSet else {
            throw SecurityFailure.other(
                "SecKeychainSetSettings \(try tool.keychainPath()): a vault without a passcode cannot be locked, "
                    + "not by -l, -u or -t either")
        }
        tool.complain(
            "SecKeychainSetSettings \(try tool.keychainPath()): the vault does not lock after a time: it locks with "
                + "the session, and by lock-keychain")
    }
}
