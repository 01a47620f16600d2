import Bytes
import CommandKit
import FoundationEssentials
import KeychainDaemon
import KeychainModel
import PrivateFiles
import ProcessVault
import StatusCodes
import VaultInterface

/// `lock-keychain`.
struct LockKeychain: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "ah")
    let usage = "[-a | keychain]"

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        guard options.operands.count <= (options.contains("a") ? 0 : 1) else {
            throw SecurityFailure.usage("name one keychain, or say -a")
        }
        guard options.contains("a") else {
            let place = try options.operands.first.map(tool.place)
            return try lock(place ?? SearchList.read(in: .standard()).standardKeychain, tool)
        }
        for place in try SearchList.read(in: .standard()).keychains {
            if case .folder(let path) = place, !KeychainNames.isKeychain(path) { continue }
            if place == .login, try !tool.open(place).status().isPasscodeSet { continue }
            try lock(place, tool)
        }
    }

    private func lock(_ place: KeychainPlace, _ tool: SecurityTool) throws {
        let keychain = try tool.open(place)
        guard try keychain.status().isPasscodeSet else {
            throw SecurityFailure.other("SecKeychainLock \(keychain.path): a vault without a passcode cannot be locked")
        }
        try securing("SecKeychainLock \(keychain.path)") {
            switch place {
            case .login: try keychain.session.perform(LockVault(after: .zero))
            case .folder(let path): try KeychainKeeper(folder: path).stop()
            }
        }
    }
}

/// `unlock-keychain`.
struct UnlockKeychain: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "uh", promptable: "p")
    let usage = "[-u] [-p password] [keychain]"

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        guard options.operands.count <= 1 else { throw SecurityFailure.usage("name one keychain") }
        let keychain = try tool.keychain(options.operands.first)
        // A vault without a passcode is always unlocked, and there is no passcode to compare with.
        guard try keychain.status().isPasscodeSet else { return }
        let given = try GivenPassword(options.value("p")).secret(orAsking: "password to unlock \(keychain.path): ")
        try Self.unlock(keychain, given)
        if case .login = keychain.place, try !keychain.status().isShared {
            tool.complain("no daemon keeps \(keychain.path) unlocked: start keychaind, and unlock it again")
        }
    }

    /// Unlocks a keychain. One that `create-keychain` made stays unlocked in a daemon of its own.
    static func unlock(_ keychain: OpenedKeychain, _ password: SecretBytes) throws {
        var session = keychain.session
        if case .folder(let path) = keychain.place {
            session = VaultSession.ofOwner(in: try KeychainKeeper(folder: path).start())
        }
        try securing("SecKeychainUnlock \(keychain.path)") {
            do {
                try session.perform(UnlockVault(with: password))
            } catch {
                // A daemon that keeps nothing unlocked would wait for nothing.
                if case .folder(let path) = keychain.place, (try? session.perform(ReadStatus()))?.lockState != .unlocked
                {
                    try? KeychainKeeper(folder: path).stop()
                }
                throw error
            }
        }
        session.showUnlockFindings()
    }
}

extension String {
    /// The text without the last characters that are meant.
    fileprivate func trimmingSuffix(_ isMeant: (Character) -> Bool) -> Substring {
        var text = self[...]
        while let last = text.last, isMeant(last) { text.removeLast() }
        return text
    }
}

/// A password of the command line.
struct GivenPassword {
    private let text: String?

    init(_ text: String?) { self.text = text }

    /// Returns the password, or else what somebody types.
    func secret(orAsking question: String) throws -> SecretBytes {
        if let text { return try Self.secret(text) }
        guard let terminal = CommandTerminal() else {
            return try PasscodeInput.none.ask(String(question.trimmingSuffix { ": ".contains($0) }))
        }
        return try PasscodeInput.only(terminal.askSecrets([question]))
    }

    /// Returns the password, or else what somebody types twice.
    func newSecret(_ first: String, _ second: String) throws -> SecretBytes {
        if let text { return try Self.secret(text) }
        let typed = try SecurityPrompt.secretTwice(first, second)
        return try typed.withUnsafeBytes { try SecretBytes(copying: $0) }
    }

    private static func secret(_ text: String) throws -> SecretBytes {
        guard let secret = try? SecretBytes(text) else { throw Failure.memory }
        return secret
    }
}

/// `show-keychain-info`, which macOS prints on standard error.
struct ShowKeychainInfo: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "h")
    let usage = "[keychain]"

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        guard options.operands.count <= 1 else { throw SecurityFailure.usage("name one keychain") }
        let place = try options.operands.first.map(tool.place) ?? SearchList.read(in: .standard()).standardKeychain
        let path = try tool.path(place)
        // Looking makes no vault.
        let exists = place == .login ? try securing("SecKeychainCopySettings", { try ProcessVault.exists() }) : true
        if exists, case let status = try tool.open(place).status(), status.isPasscodeSet, status.lockState != .unlocked
        {
            throw SecurityFailure.status(errSecInteractionNotAllowed, during: "SecKeychainCopySettings \(path)")
        }
        var settings = KeychainSettings(locksOnSleep: false, timeout: nil)
        if case .folder(let path) = place, KeychainNames.isMade(path) {
            settings = try KeychainFolder(path: path).settings
        }
        tool.complain(
            plain: "Keychain \"\(path)\"" + (settings.locksOnSleep ? " lock-on-sleep" : "")
                + (settings.timeout.map { " timeout=\($0)s" } ?? " no-timeout"))
    }
}

/// `set-keychain-settings`: without options the keychain never locks itself. Scripts set a time before which the
/// keychain must not lock, so a time that the login keychain does not keep is told and no error.
struct SetKeychainSettings: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "luh", values: "t")
    let usage = "[-l] [-u] [-t seconds] [keychain]"

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        guard options.operands.count <= 1 else { throw SecurityFailure.usage("name one keychain") }
        let timeout = try options.value("t").map { text in
            guard let seconds = Int(text), (1...Int(Int32.max)).contains(seconds) else {
                throw SecurityFailure.usage("-t takes a number of seconds from 1 on")
            }
            return seconds
        }
        let keychain = try tool.keychain(options.operands.first)
        let isPasscodeSet = try keychain.status().isPasscodeSet
        if case .folder(let path) = keychain.place, KeychainNames.isMade(path) {
            // The last of macOS means never.
            let settings = KeychainSettings(
                locksOnSleep: options.contains("l"), timeout: timeout == Int(Int32.max) ? nil : timeout)
            try settings.write(to: PrivateFolder(existing: path))
            if isPasscodeSet { return }
        }
        guard options.options.contains(where: { $0.letter != "h" }) else { return }
        tool.complain(
            "SecKeychainSetSettings \(keychain.path): "
                + (isPasscodeSet
                    ? "the vault does not lock after a time: it locks with the session, and by lock-keychain"
                    : "a vault without a passcode cannot be locked, not by -l, -u or -t either"))
    }
}

/// `set-keychain-password`.
struct SetKeychainPassword: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "h", values: "op")
    let usage = "[-o old-password] [-p new-password] [keychain]"

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        guard options.operands.count <= 1 else { throw SecurityFailure.usage("name one keychain") }
        let keychain = try tool.keychain(options.operands.first)
        let hasPasscode = try keychain.status().isPasscodeSet
        let given = hasPasscode ? options.value("o") : ""
        let old = try GivenPassword(given).secret(orAsking: "Old Password: ")
        let new = try GivenPassword(options.value("p")).newSecret("New Password: ", "Retype New Password: ")
        try securing("error changing password for \"\(keychain.path)\"") {
            switch (hasPasscode, new.isEmpty) {
            case (true, false):
                try keychain.session.perform(ChangePasscode(from: old, to: new, options: PasscodeOptions()))
            case (true, true):
                try keychain.session.perform(RemovePasscode(old))
                // What is never locked needs no daemon.
                if case .folder(let path) = keychain.place { try KeychainKeeper(folder: path).stop() }
            case (false, false): try keychain.session.perform(SetPasscode(new, options: PasscodeOptions()))
            case (false, true): break
            }
        }
    }
}
