import ArgumentParser
import Bytes
import CommandKit
import KeychainModel
import VaultInterface

/// Sets, changes and removes the vault's passcode.
struct PasscodeCommand: DocumentedCommand {
    static let summary = "Set, change or remove the vault's passcode."
    static let details = """
        With a passcode, items that are accessible 'when unlocked' or 'after first unlock' are sealed by it: anybody \
        who copies the files has to guess it. Without a passcode, the device secret in the vault's folder is enough. \
        Each guess costs a quarter of a second and 256 MiB of memory. After three wrong guesses the vault delays the \
        next one, from a minute up to eight hours.

        A forgotten passcode closes the vault for good, unless there is a recovery key: `keychain recovery create`.
        """
    static let examples = [
        Example("Set one, typed twice", "keychain passcode set"),
        Example("Set one in a script", "keychain passcode set --new-passcode-fd 3 3< passcode-file"),
        Example("In a container with little memory", "keychain passcode set --memory 19 --passes 2"),
    ]
    static let configuration = documented(
        "passcode",
        subcommands: [SetPasscodeCommand.self, ChangePasscodeCommand.self, RemovePasscodeCommand.self])
}

/// What the passcode commands print as JSON.
struct PasscodeCommandAnswer: Encodable {
    var passcode: Bool
}

struct SetPasscodeCommand: DocumentedCommand {
    static let summary = "Set the passcode of a vault that has none."
    static let details = """
        The items stay as they are. Only their class keys are wrapped again, which takes the same time for one item as \
        for a million. Programs that have the vault open need the passcode before they can write again. At a terminal \
        you have to type 'weak' before a weak passcode is set; a script is told afterwards.
        """
    static let examples = [
        Example("Type it twice", "keychain passcode set"),
        Example("Erase everything after ten wrong ones in a row", "keychain passcode set --erase-after 10"),
    ]
    static let configuration: CommandConfiguration = documented("set")

    @OptionGroup var new: NewPasscodeInput

    @Flag(help: .json)
    var json = false

    func run() throws {
        let session = try VaultSession.ofOwner()
        let status = try session.perform(ReadStatus())
        guard !status.isPasscodeSet else { throw Failure(.passcodeIsSet) }
        let passcode = try new.ask()
        let isTold = try new.confirm(passcode, in: session)
        try session.perform(SetPasscode(passcode, options: new.options))
        if json { return try StandardOutput.write(json: PasscodeCommandAnswer(passcode: true)) }
        new.showWorth(of: passcode, in: session, isTold: isTold)
    }
}

struct ChangePasscodeCommand: DocumentedCommand {
    static let summary = "Replace the passcode with another one."
    static let details = """
        Takes the same time however many items there are. It does not change the class keys, which open the items. \
        Somebody who knows the old passcode and has an older copy of the vault's files can read the class keys from \
        it, and with them later items. If the old passcode may be known, add --new-keys: the command then also \
        replaces the class keys and seals every item again, as `keychain rekey` does. Older copies of the vault's \
        files still open with the old passcode.

        What a try of the passcode costs stays as it was set with --memory and --passes, unless they are given again, \
        and so does --erase-after. `keychain status` shows them.
        """
    static let examples = [
        Example("Type the old one, and the new one twice", "keychain passcode change"),
        Example("Somebody may know the old one", "keychain passcode change --new-keys"),
        Example(
            "In a script", "keychain passcode change --passcode-fd 3 --new-passcode-fd 4 3< old 4< new"),
    ]
    static let configuration: CommandConfiguration = documented("change")

    @OptionGroup var passcode: PasscodeInput
    @OptionGroup var new: NewPasscodeInput

    @Flag(name: .customLong("new-keys"), help: "Also replace the class keys and seal every item again.")
    var newKeys = false

    @Flag(help: .json)
    var json = false

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        try session.requirePasscodeToTry()
        let old = try passcode.ask()
        let next = try new.ask()
        let isTold = try new.confirm(next, in: session)
        if newKeys {
            _ = try session.renewKeys(old, next: (next, new.options))
            session.noteFilesOfFormerKeys()
        } else {
            try session.perform(ChangePasscode(from: old, to: next, options: new.options))
        }
        if json { return try StandardOutput.write(json: PasscodeCommandAnswer(passcode: true)) }
        new.showWorth(of: next, in: session, isTold: isTold)
        if !newKeys {
            CommandNote.show(
                "the class keys did not change: if somebody else may know the old passcode, replace them with "
                    + "`keychain rekey`")
        }
    }
}

struct RemovePasscodeCommand: DocumentedCommand {
    static let summary = "Remove the passcode."
    static let details = """
        Items, and former versions of items, that exist only while a passcode is set are lost for good. If there are \
        such items, the command names them: on a terminal you have to type 'remove', elsewhere --yes is needed. All \
        others stay, and only the device secret protects them. Of an item that is lost, the former versions that do \
        not need the passcode stay as those of a deleted item (`keychain list --deleted`).
        """
    static let examples = [
        Example("Type the passcode", "keychain passcode remove"),
        Example("In a script", "keychain passcode remove --passcode-fd 3 3< passcode-file"),
    ]
    static let configuration: CommandConfiguration = documented("remove")

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        let before = try session.requirePasscodeToTry()
        let passcode = try passcode.ask()
        if !yes { try confirm(before, passcode, session) }
        try session.perform(RemovePasscode(passcode))
        if json { return try StandardOutput.write(json: PasscodeCommandAnswer(passcode: false)) }
        let lost =
            before.itemCounts.values.reduce(0, +) - (try session.perform(ReadStatus())).itemCounts.values.reduce(0, +)
        if lost > 0 {
            let (items, verb) = lost == 1 ? ("item", "is") : ("items", "are")
            CommandNote.show("\(lost) \(items) that existed only while a passcode was set \(verb) lost for good")
        }
        let withheld = try session.countOfItemsThatNeedAPerson()
        if withheld > 0 {
            CommandNote.show(
                "\(withheld) \(withheld == 1 ? "item needs" : "items need") a person or the passcode and cannot be read "
                    + "until a passcode is set (`keychain passcode set`)")
        }
    }
}

extension RemovePasscodeCommand {
    /// Asks before items are lost. A locked vault is unlocked to name them.
    private func confirm(_ before: VaultStatus, _ passcode: SecretBytes, _ session: VaultSession) throws {
        let isLocked = before.lockState != .unlocked
        if isLocked { try session.perform(UnlockVault(with: passcode)) }
        do {
            let lost = try ItemClass.stored.flatMap { itemClass in
                try session.described(ItemQuery(itemClass: itemClass, synchronizable: .any))
            }.filter { $0.accessControl.protection == .whenPasscodeSetThisDeviceOnly }
            guard !lost.isEmpty else { return }
            let loss =
                "\(lost.listed) \(lost.count == 1 ? "exists" : "exist") only while a passcode is set, and "
                + "\(lost.count == 1 ? "is" : "are") lost for good without it."
            try Confirmation(loss: loss, word: "remove", verb: "removed").ask(
                unattended: .refused("\(loss.dropLast()): say --yes to remove the passcode all the same"))
        } catch {
            // A daemon would keep the vault unlocked.
            if isLocked { _ = try? session.perform(LockVault(after: .zero)) }
            throw error
        }
    }
}

extension VaultSession {
    /// Returns how many items a search without a person leaves out.
    fileprivate func countOfItemsThatNeedAPerson() throws -> Int {
        var count = 0
        for itemClass in ItemClass.stored {
            var query = ItemQuery(itemClass: itemClass, synchronizable: .any)
            query.reports = [.damage, .withheld]
            query.authentication = AuthenticationOptions(interaction: .skip)
            do {
                _ = try perform(CopyItems(query, includingValues: false)) { part in
                    if case .withheld = part { count += 1 }
                }
            } catch VaultError.itemNotFound {}
        }
        return count
    }
}

extension VaultSession {
    /// Fails if no passcode is set.
    ///
    /// - Returns: The vault's state.
    @discardableResult
    func requirePasscode() throws -> VaultStatus {
        let status = try perform(ReadStatus())
        guard status.isPasscodeSet else { throw Failure(.passcodeNotSet) }
        return status
    }

    /// Fails if no passcode is set, or if none is tried now, so that nobody is asked for one.
    ///
    /// - Returns: The vault's state.
    @discardableResult
    func requirePasscodeToTry() throws -> VaultStatus {
        let status = try requirePasscode()
        try status.requireNoDelay()
        return status
    }
}
