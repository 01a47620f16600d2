import Access
import KeychainModel
import Presence
import ProcessVault
import StatusCodes
import VaultInterface

extension VaultSession {
    /// The session of the owner's own tool, which sees every group. New items go to the first group of the
    /// environment, else to the tool's own.
    ///
    /// - Parameter chosen: How this process asks, instead of what `passcode` says.
    package static func ofOwner(
        _ passcode: PasscodeInput? = nil, prompt chosen: (any PasscodePrompt)? = nil
    ) throws -> VaultSession {
        ProcessVault.declare(ownersTool)
        let prompt = CommandPrompt(chosen ?? passcode?.prompt ?? StandardPrompt())
        ProcessVault.prompt = prompt
        var session = try VaultSession.current()
        session.unlocker = CommandUnlocker(prompt)
        return session
    }

    /// The session of the owner's own tool in another vault than the process's.
    package static func ofOwner(in vault: any Vault) -> VaultSession {
        let prompt = CommandPrompt(ProcessVault.prompt ?? StandardPrompt())
        ProcessVault.prompt = prompt
        var session = VaultSession(vault: vault, client: ownersTool)
        session.unlocker = CommandUnlocker(prompt)
        return session
    }

    private static var ownersTool: Client {
        let groups = ProcessVault.environmentGroups().filter { $0 != Client.everyGroup }
        return Client(
            identifier: "keychain", accessGroups: (groups.isEmpty ? ["keychain"] : groups) + [Client.everyGroup])
    }

    /// The session for a command that makes no vault: where there is none, it says so.
    package static func ofOwnerInPresentVault(
        _ passcode: PasscodeInput? = nil, prompt: (any PasscodePrompt)? = nil
    ) throws -> VaultSession {
        guard try ProcessVault.exists() else {
            let path = try ProcessVault.defaultPath()
            throw Failure(status: errSecItemNotFound, "there is no vault at \(path): `keychain set` makes one")
        }
        return try ofOwner(passcode, prompt: prompt)
    }
}
