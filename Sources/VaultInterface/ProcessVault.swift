import Access
import Foundation
import Glibc
import Synchronization

/// The vault this process uses when nobody says otherwise, and who this process claims to be.
///
/// Embedded in the caller's process, identity is declared and not proven: an API call, else the
/// environment, else the executable's name.
package enum ProcessVault {
    private struct State {
        var vault: (any VaultEngine)?
        var client: Client?
        var engine: (any VaultEngine.Type)?
        var replacement: (any VaultSessionProvider)?
        /// Vaults that were closed. Letting go of their connections would take longer than the end of the
        /// process, which does it anyway.
        var closed: [any VaultEngine] = []
    }

    private static let state = Mutex(State())

    /// The process's session; opens or creates the vault at the first call.
    package static func session() throws(VaultError) -> VaultSession {
        try state.withLock { state throws(VaultError) in
            if let replacement = state.replacement { return replacement.session }
            let vault: any VaultEngine
            if let open = state.vault {
                vault = open
            } else {
                let engine = if let named = state.engine { named } else { try linkedEngine() }
                vault = try engine.openVault(at: defaultPath())
                state.vault = vault
            }
            let client = state.client ?? environmentClient()
            state.client = client
            return VaultSession(vault: vault, client: client)
        }
    }

    /// Names the engine, for a program that imports it: finding it takes longer than opening a vault.
    package static func use(_ engine: any VaultEngine.Type) {
        state.withLock { $0.engine = engine }
    }

    private static func linkedEngine() throws(VaultError) -> any VaultEngine.Type {
        guard let engine = NSClassFromString("Vault.EmbeddedVault") as? any VaultEngine.Type else {
            throw .unusableVault(reason: "this program was linked without the vault engine; link it anew")
        }
        return engine
    }

    /// Closes the process's vault, for a program that is about to end; a later call opens it again.
    package static func close() {
        state.withLock { state in
            guard let vault = state.vault else { return }
            vault.close()
            state.closed.append(vault)
            state.vault = nil
        }
    }

    /// Declares who this process is; the first group is where its new items go.
    package static func declare(_ client: Client) {
        state.withLock { $0.client = client }
    }

    /// Puts a provider in the place of the process's vault, for code under test that leaves its task.
    package static func replace(with provider: (any VaultSessionProvider)?) {
        state.withLock { $0.replacement = provider }
    }

    /// `$KEYCHAIN_HOME`, else `$XDG_DATA_HOME/keychain`, else `~/.local/share/keychain`.
    package static func defaultPath() throws(VaultError) -> String {
        if let home = environment("KEYCHAIN_HOME") { return home }
        if let data = environment("XDG_DATA_HOME"), data.hasPrefix("/") { return data + "/keychain" }
        if let home = environment("HOME") { return home + "/.local/share/keychain" }
        throw .unusableVault(reason: "no place for the vault: set KEYCHAIN_HOME to a folder of your own")
    }

    /// Who the environment says this is: `KEYCHAIN_ACCESS_GROUPS`, separated by commas, else one group
    /// with the executable's name.
    package static func environmentClient() -> Client {
        let name = executableName()
        let groups = environmentGroups()
        return Client(identifier: name, accessGroups: groups.isEmpty ? [name] : groups)
    }

    /// The groups in `KEYCHAIN_ACCESS_GROUPS`; empty if it names none.
    package static func environmentGroups() -> [String] {
        (environment("KEYCHAIN_ACCESS_GROUPS") ?? "")
            .split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    /// Whether there is anything of a vault in the process's folder.
    package static func exists() throws(VaultError) -> Bool {
        let path = try defaultPath()
        // Whatever else is wrong with the folder, opening says so.
        return ["keybag", "items.db", "device-secret"].contains {
            access(path + "/" + $0, F_OK) == 0 || errno != ENOENT
        }
    }

    private static func executableName() -> String {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { return nameFromArguments() }
        let path = String(decoding: buffer[..<count], as: UTF8.self)
        return path.split(separator: "/").last.map(String.init) ?? path
    }

    /// The name from the command line, where /proc is not mounted.
    private static func nameFromArguments() -> String {
        CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "unknown"
    }

    private static func environment(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
