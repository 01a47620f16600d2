import ArgumentParser
import CommandKit
import ProcessVault
import VaultInterface

/// Destroys the vault's keys and items.
struct EraseCommand: DocumentedCommand {
    static let summary = "Destroy every key and every item of every group, for good."
    static let details = """
        The device secret and the keys are replaced by new ones. Copies of the items can then not be opened either, \
        unless the old device secret was copied with them. On a terminal you have to type 'erase'; elsewhere --yes is \
        needed.
        """
    static let examples = [
        Example("Erase after a question", "keychain erase"),
        Example("Erase in a script", "keychain erase --yes"),
    ]
    static let configuration: CommandConfiguration = documented("erase")

    @Flag(help: "Do not ask.")
    var yes = false

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var erased = true
    }

    func run() throws {
        if !yes { try confirm() }
        let session = try VaultSession.ofOwnerInPresentVault()
        try session.perform(EraseVault())
        if json { try StandardOutput.write(json: Answer()) }
    }

    private func confirm() throws {
        let path = try ProcessVault.defaultPath()
        try Confirmation(
            loss: "This destroys every key and every item in \(path.escapedForTerminal), for good.",
            word: "erase", verb: "erased"
        ).ask(unattended: .refused("say --yes to erase everything"))
    }
}
