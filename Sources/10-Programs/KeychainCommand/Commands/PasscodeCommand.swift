import ArgumentParser
import KeychainModel
import Vault

/// The vault's passcode.
struct PasscodeCommand: DocumentedCommand {
    static let summary = "Set, change or remove the vault's passcode."
    static let details = """
        With a passcode, items that are accessible 'when unlocked' or 'after first unlock' are sealed by it: \
        whoever copies the files has to guess it. Without one, the device secret in the vault's folder is all \
        it takes. Each guess costs a quarter of a second and 256 MiB of memory, and after three wrong ones \
        the vault makes the next wait, from a minute up to eight hours.

        A forgotten passcode cannot be recovered.
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

/// How passcode commands end.
struct PasscodeAnswer: Encodable {
    var passcode: Bool
}

struct SetPasscodeCommand: DocumentedCommand {
    static let summary = "Set a passcode where there is none."
    static let details = """
        The items stay as they are; their class keys are wrapped anew, which takes the same time for one item \
        as for a million. Programs that have the vault open must be given the passcode before they write again.
        """
    static let examples = [
        Example("Type it twice", "keychain passcode set"),
        Example("Erase everything after ten wrong ones in a row", "keychain passcode set --erase-after 10"),
    ]
    static let configuration: CommandConfiguration = documented("set")

    @OptionGroup var new: NewPasscodeInput

    @Flag(help: "Print the result, and any error, as JSON.")
    var json = false

    func run() throws {
        let session = try VaultSession.ofOwner()
        let status = try failing { () throws(VaultError) in try session.vault.status(as: session.client) }
        guard !status.isPasscodeSet else { throw Failure(.passcodeIsSet) }
        let passcode = try new.ask()
        try failing { () throws(VaultError) in
            try session.vault.setPasscode(passcode, options: new.options, as: session.client)
        }
        if json { try StandardOutput.write(json: PasscodeAnswer(passcode: true)) }
    }
}

struct ChangePasscodeCommand: DocumentedCommand {
    static let summary = "Put another passcode in the place of the one that is set."
    static let details = """
        Takes the same time however many items there are. Copies of the vault's files that were made before still \
        open with the old passcode.
        """
    static let examples = [
        Example("Type the old one, and the new one twice", "keychain passcode change"),
        Example(
            "In a script", "keychain passcode change --passcode-fd 3 --new-passcode-fd 4 3< old 4< new"),
    ]
    static let configuration: CommandConfiguration = documented("change")

    @OptionGroup var passcode: PasscodeInput
    @OptionGroup var new: NewPasscodeInput

    @Flag(help: "Print the result, and any error, as JSON.")
    var json = false

    func run() throws {
        let session = try VaultSession.ofOwnerForLooking(passcode)
        try session.requirePasscode()
        let old = try passcode.ask()
        let next = try new.ask()
        try failing { () throws(VaultError) in
            try session.vault.changePasscode(from: old, to: next, options: new.options, as: session.client)
        }
        if json { try StandardOutput.write(json: PasscodeAnswer(passcode: true)) }
    }
}

struct RemovePasscodeCommand: DocumentedCommand {
    static let summary = "Remove the passcode."
    static let details = """
        Items that exist only while a passcode is set are lost for good; all others stay, and hang on the \
        device secret alone.
        """
    static let examples = [
        Example("Type the passcode", "keychain passcode remove"),
        Example("In a script", "keychain passcode remove --passcode-fd 3 3< passcode-file"),
    ]
    static let configuration: CommandConfiguration = documented("remove")

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: "Print the result, and any error, as JSON.")
    var json = false

    func run() throws {
        let session = try VaultSession.ofOwnerForLooking(passcode)
        try session.requirePasscode()
        let passcode = try passcode.ask()
        try failing { () throws(VaultError) in
            try session.vault.removePasscode(passcode, as: session.client)
        }
        if json { try StandardOutput.write(json: PasscodeAnswer(passcode: false)) }
    }
}

extension VaultSession {
    /// Nobody is asked for a passcode that is not there.
    func requirePasscode() throws(Failure) {
        let status = try failing { () throws(VaultError) in try vault.status(as: client) }
        guard status.isPasscodeSet else { throw Failure(.passcodeNotSet) }
    }
}
