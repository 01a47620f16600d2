import ArgumentParser
import CommandKit
import FoundationEssentials
import KeychainModel
import StatusCodes
import StoredKeys
import VaultInterface

/// Opens a secret in an editor.
struct EditCommand: DocumentedCommand {
    static let summary = "Change a secret in an editor."
    static let details = """
        The editor is $VISUAL, else $EDITOR, else vi. The secret is in a file in memory (in $XDG_RUNTIME_DIR or \
        /dev/shm) that only you can read, and is wiped when the editor ends. vi, vim and nvim are told to keep no \
        copies of it; another editor may keep some. Nothing is stored if you change nothing or leave the editor with \
        an error (`:cq`), or if another program changed the secret in the meantime.

        A newline that the editor puts at the end is removed if there was none before.
        """
    static let examples = [
        Example("A file of several lines", "keychain edit api.example.com config"),
        Example("With another editor", "EDITOR='nano -R' keychain edit notes home"),
    ]
    static let configuration: CommandConfiguration = documented("edit")

    @OptionGroup var choice: PasswordChoice
    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        let item = try choice.search(passcode, itemPassword).one(in: session, includingValues: true)
        if let service = item.attribute(.service).map({ AttributeText($0).plain }), KeyPurpose(service: service) != nil
        {
            throw Failure.usage("this is a key of the keychain's own, which no person changes")
        }
        let secret = item.value ?? Data()
        guard String(validating: secret, as: UTF8.self) != nil else {
            throw Failure(
                status: errSecParam, "the secret is not text, which editors change: `keychain get` writes it to a file")
        }
        let edited = try EditedSecret(secret).edited()
        guard edited != secret else {
            CommandNote.show("nothing was changed")
            return
        }
        guard !edited.isEmpty else {
            throw Failure(
                status: errSecParam,
                "the file is empty, so nothing was changed: `keychain delete` removes a password")
        }
        var query = ItemQuery(item: item)
        query.authentication = try itemPassword.authentication()
        query.includesExpired = true
        guard let present = try session.perform(CopyItems(query, includingValues: true)).first,
            present.value == item.value
        else {
            throw Failure(
                status: errSecInteractionNotAllowed, exitCode: ExitStatus.other,
                "another program changed the secret while you did, so yours was not stored: edit it once more")
        }
        try session.perform(UpdateItems(query, with: ItemChanges(value: edited)))
        if json {
            query.authentication.interaction = .skip
            let stored = try session.perform(CopyItems(query, includingValues: false)).first ?? present
            try StandardOutput.write(json: ItemSummary(stored))
        }
    }
}
