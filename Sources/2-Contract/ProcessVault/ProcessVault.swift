import Access
import Bytes
import CLibrary
import DaemonLink
import Synchronization
import SystemLibraries
import VaultInterface

/// The vault this process uses when nobody says otherwise, and who this process claims to be.
///
/// Embedded in the caller's process, identity is declared and not proven: an API call, else the
/// environment, else the executable's name. A daemon knows better, and grants no more than it knows.
package enum ProcessVault {
    private struct State {
        var vault: OpenVault?
        var client: Client?
        var engine: (any VaultEngine.Type)?
        var connector: (any VaultConnection.Type)?
        var replacement: (any VaultSessionProvider)?
        /// Whether a vault has to be there already.
        var makesNone = false
        /// Vaults in other folders, by their paths.
        var others: [String: OpenVault] = [:]
        /// Vaults that were closed. Letting go of their connections would take longer than the end of the
        /// process, which does it anyway.
        var closed: [OpenVault] = []
    }

    private enum OpenVault {
        case embedded(any VaultEngine)
        case remote(any VaultConnection)

        var vault: any Vault {
            switch self {
            case .embedded(let engine): engine
            case .remote(let connection): connection
            }
        }

        var isServed: Bool { if case .remote = self { true } else { false } }

        func close() {
            switch self {
            case .embedded(let engine): engine.close()
            case .remote(let connection): connection.close()
            }
        }
    }

    private static let state = Mutex(State())
    private static let chosenPrompt = Mutex<(any PasscodePrompt)?>(nil)

    /// How this process asks a person for a passcode, from the next question on; nil for the standard prompt: pinentry
    /// or the terminal, whichever is there.
    package static var prompt: (any PasscodePrompt)? {
        get { chosenPrompt.withLock { $0 } }
        set { chosenPrompt.withLock { $0 = newValue } }
    }

    /// The process's session; opens or creates the vault at the first call.
    package static func session() throws(VaultError) -> VaultSession {
        try state.withLock { state throws(VaultError) in
            if let replacement = state.replacement { return replacement.session }
            let open = if let open = state.vault { open } else { try openVault(&state) }
            state.vault = open
            let client = state.client ?? undeclaredClient(of: open)
            state.client = client
            return VaultSession(vault: open.vault, client: client)
        }
    }

    /// The daemon's vault or the folder's, as ``VaultPlace`` says.
    private static func openVault(_ state: inout State) throws(VaultError) -> OpenVault {
        if let connection = try connect(state) { return .remote(connection) }
        let path = try defaultPath()
        if state.makesNone, !hasVault(path) {
            throw .unusableVault(reason: "there is no vault at \(path): `keychain set` makes one")
        }
        let engine = if let named = state.engine { named } else { try LinkedTypes.engine() }
        return .embedded(try engine.openVault(at: path) { prompt })
    }

    /// Connects to the daemon; nil if this process is to use the folder itself.
    private static func connect(_ state: State) throws(VaultError) -> (any VaultConnection)? {
        let place = try VaultPlace.ofProcess()
        guard place.mode != .embedded else { return nil }
        for path in place.presentSockets {
            let connector = if let named = state.connector { named } else { try LinkedTypes.connector() }
            if let connection = try connector.connect(toSocket: path, asking: { prompt }) { return connection }
        }
        guard place.mode == .auto else {
            if let path = place.closedSocket { throw .unusableVault(reason: VaultPlace.closedReason(path)) }
            throw .unusableVault(
                reason: "no daemon listens at \(place.sockets.joined(separator: " or ")); start keychaind, "
                    + "or set KEYCHAIN_MODE=embedded to do without")
        }
        return nil
    }

    /// Returns whom the daemon that serves the process's vault takes this process for; nil if no daemon serves it.
    /// Makes no vault.
    package static func servedCaller() throws(VaultError) -> CallerDescription? {
        try state.withLock { state throws(VaultError) in
            if state.vault == nil { state.vault = try connect(state).map(OpenVault.remote) }
            guard case .remote(let connection) = state.vault else { return nil }
            return connection.caller
        }
    }

    /// The variable of the environment because of which this process asks no daemon; nil if it asks one.
    package static func variableAgainstDaemon() -> String? {
        (try? VaultPlace.ofProcess())?.variableAgainstDaemon
    }

    /// The client that this process is if it does not say so. A daemon says who it is.
    private static func undeclaredClient(of vault: OpenVault) -> Client {
        guard case .remote(let connection) = vault, environmentGroups().isEmpty else { return environmentClient() }
        return connection.caller.client
    }

    /// Names the engine and the daemon's client, for a program that imports them: finding them takes longer
    /// than opening a vault.
    package static func use(_ engine: any VaultEngine.Type, orDaemonThrough connector: any VaultConnection.Type) {
        state.withLock {
            $0.engine = engine
            $0.connector = connector
        }
    }

    /// Returns the vault in another folder than the process's own: that of the daemon at `socket` if one listens there,
    /// else a vault in this process, which is made if there is none.
    ///
    /// - Parameter socket: Nil to ask no daemon.
    package static func vault(
        in folder: String, socket: String?
    ) throws(VaultError) -> (vault: any Vault, isServed: Bool) {
        try state.withLock { state throws(VaultError) in
            if let open = state.others[folder] { return (open.vault, open.isServed) }
            let open = try openVault(in: folder, socket, state)
            state.others[folder] = open
            return (open.vault, open.isServed)
        }
    }

    private static func openVault(
        in folder: String, _ socket: String?, _ state: State
    ) throws(VaultError) -> OpenVault {
        if let socket, access(socket, F_OK) == 0 {
            let connector = if let named = state.connector { named } else { try LinkedTypes.connector() }
            if let connection = try connector.connect(toSocket: socket, asking: { prompt }) {
                return .remote(connection)
            }
        }
        let engine = if let named = state.engine { named } else { try LinkedTypes.engine() }
        return .embedded(try engine.openVault(at: folder) { prompt })
    }

    /// Closes the vault in another folder; a later call opens it again.
    package static func closeVault(in folder: String) {
        state.withLock { state in
            guard let vault = state.others.removeValue(forKey: folder) else { return }
            vault.close()
            state.closed.append(vault)
        }
    }

    /// Closes the process's vaults, for a program that is about to end; a later call opens them again.
    package static func close() {
        state.withLock { state in
            for vault in state.others.values {
                vault.close()
                state.closed.append(vault)
            }
            state.others = [:]
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

    /// Has the process's vault be made no more where there is none, for a command that only reads.
    package static func makeNone() {
        state.withLock { $0.makesNone = true }
    }

    /// Puts a provider in the place of the process's vault, for code under test that leaves its task.
    package static func replace(with provider: (any VaultSessionProvider)?) {
        state.withLock { $0.replacement = provider }
    }

    /// `$KEYCHAIN_HOME`, else `$XDG_DATA_HOME/keychain`, else `~/.local/share/keychain`.
    package static func defaultPath() throws(VaultError) -> String {
        if let home = Environment.value(of: "KEYCHAIN_HOME") { return home }
        if let data = Environment.value(of: "XDG_DATA_HOME"), data.hasPrefix("/") { return data + "/keychain" }
        if let home = Environment.value(of: "HOME") { return home + "/.local/share/keychain" }
        throw .unusableVault(
            reason: Environment.isRaised
                ? "a program with raised privileges (set-user-ID, set-group-ID or file capabilities) does not let the "
                    + "environment choose the vault: start it without them"
                : "no place for the vault: set KEYCHAIN_HOME to a folder of your own")
    }

    /// Who the environment says this is: `KEYCHAIN_ACCESS_GROUPS`, separated by commas, else one group
    /// with the executable's name.
    private static func environmentClient() -> Client {
        let name = executableName()
        let groups = environmentGroups()
        return Client(identifier: name, accessGroups: groups.isEmpty ? [name] : groups)
    }

    /// The groups in `KEYCHAIN_ACCESS_GROUPS`; empty if it names none.
    package static func environmentGroups() -> [String] {
        (Environment.value(of: "KEYCHAIN_ACCESS_GROUPS") ?? "")
            .split(separator: ",").map { $0.trimmedInLine }.filter { !$0.isEmpty }
    }

    /// Whether a daemon serves the process's vault, or there is anything of one in its folder.
    package static func exists() throws(VaultError) -> Bool {
        if try servedCaller() != nil { return true }
        return try hasVault(defaultPath())
    }

    /// Whether there is anything of a vault in a folder.
    private static func hasVault(_ path: String) -> Bool {
        // Whatever else is wrong with the folder, opening says so.
        ["keybag", "device-secret", "items.db"].contains {
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
}
