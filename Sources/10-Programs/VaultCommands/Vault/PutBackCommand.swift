import ArgumentParser
import CommandKit
import ProcessVault
import StatusCodes
import VaultInterface

/// Has the daemon write the device secret that it has in memory.
struct PutBackCommand: DocumentedCommand {
    static let summary = "Write the device secret back that the running daemon still has."
    static let details = """
        A vault cannot be opened without the file `device-secret` in its folder. If the file is lost or another one is \
        in its place while keychaind runs, the daemon still has the secret in memory, and loses it when it ends: do not \
        restart it before. `keychain status` tells of it. This command has the daemon write the file again, if the \
        secret opens the keybag that is in the folder. A file that is in the way is kept as `device-secret.found-1`. \
        It takes the right to administer.
        """
    static let examples = [Example("Before the daemon is restarted", "keychain recovery put-back")]
    static let configuration: CommandConfiguration = documented("put-back")

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var written: Bool
        var other: String?
    }

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault()
        guard try ProcessVault.servedCaller() != nil else {
            throw Failure(
                status: errSecNotAvailable,
                "no daemon serves this vault, so no program has its device secret but from the file")
        }
        let reply = try session.perform(PutBackDeviceSecret())
        if json { return try StandardOutput.write(json: Answer(written: reply.isWritten, other: reply.other)) }
        guard reply.isWritten else { return CommandNote.show("the device secret is in its place: nothing was written") }
        try StandardOutput.write(line: "the device secret is in its place again")
        if let other = reply.other {
            CommandNote.show("the file that was there is now \(other.escapedForTerminal)")
        }
    }
}
