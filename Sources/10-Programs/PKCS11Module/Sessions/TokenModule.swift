import CLibrary
import CPKCS11
import DaemonLink
import KeyClient
import PlainBytes

/// The state of the library in this process.
///
/// One lock guards all of it, and is not held while the daemon works. A fork waits for it, so that the child finds it
/// free.
// Safe to share between threads: `state` and `helper` are touched with `lock` held alone.
final class TokenModule: @unchecked Sendable {
    static let shared = TokenModule()

    private struct State {
        /// The process that called C_Initialize; nil before that, and after C_Finalize.
        var process: pid_t?
        var client: KeyClient?
        /// Whether this process, or the one that it was forked from, has had a session.
        var hasHadSession = false
        /// Why the last search did not reach the vault; nil if it did. A program that searches anew after a fork may go
        /// on with a handle from before, and gets this reason for it.
        var searchFailure: TokenError?
        var isLoggedIn = false
        var sessions: [CK_SESSION_HANDLE: TokenSession] = [:]
        var lastSession: CK_SESSION_HANDLE = 0
        var objects: [CK_OBJECT_HANDLE: TokenObject] = [:]
        var handles: [TokenObjectName: CK_OBJECT_HANDLE] = [:]
        var lastObject: CK_OBJECT_HANDLE = 0
    }

    static let slot: CK_SLOT_ID = 0
    /// The most sessions at once; more is a leak of the program that opens them.
    private static let mostSessions = 1 << 16

    private let lock = ThreadLock()
    private var state = State()
    /// The socket of the helper that this process, or the one that it was forked from, has started.
    private var helper: String?

    private init() {
        pthread_atfork(
            { TokenModule.shared.lock.lock() }, { TokenModule.shared.lock.unlock() },
            {
                // Connections are the parent's; the helper serves the child, too. Objects, sessions and what they have
                // begun stay, as version 3.0 of the standard has it for interfaces that are safe across forks.
                TokenModule.shared.state.client = nil
                TokenModule.shared.lock.unlock()
            })
    }

    private func withState<Result>(_ body: (inout State) throws(TokenError) -> Result) throws(TokenError) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }

    private func initialized<Result>(
        _ body: (inout State) throws(TokenError) -> Result
    ) throws(TokenError) -> Result {
        try withState { state throws(TokenError) in
            guard state.process != nil else { throw TokenError(.notInitialized) }
            return try body(&state)
        }
    }

    // MARK: The library

    func initialize() throws(TokenError) {
        try withState { state throws(TokenError) in
            // A child of the process that did it is new to the library, if it says so.
            guard state.process != getpid() else { throw TokenError(.alreadyInitialized) }
            let hasHadSession = state.hasHadSession
            state = State()
            state.process = getpid()
            state.hasHadSession = hasHadSession
        }
    }

    func finalize() throws(TokenError) {
        try initialized { state throws(TokenError) in
            state = State()
            helper = nil
            VaultHelper.end()
        }
    }

    func requireInitialized() throws(TokenError) { try initialized { _ throws(TokenError) in } }

    /// The client of the daemon; made at the first need.
    private func client() throws(TokenError) -> KeyClient {
        try initialized { state throws(TokenError) in
            if let client = state.client { return client }
            let client = KeyClient(sockets: VaultSockets.open(helper: &helper), asker: VaultHelper.asker())
            state.client = client
            return client
        }
    }

    // MARK: Sessions

    func open(readWrite: Bool) throws(TokenError) -> CK_SESSION_HANDLE {
        if try !client().isReachable() {
            try initialized { state throws(TokenError) in
                // The next session looks again for a place where a daemon listens.
                state.client = nil
                // A token that was there before is a daemon that starts again: each use says that it is not there. For
                // a session that it cannot open, OpenSSL's engine would wait without end (libp11 0.4.12).
                guard state.hasHadSession else { throw TokenError(.tokenNotPresent) }
            }
        }
        return try initialized { state throws(TokenError) in
            state.hasHadSession = true
            guard state.sessions.count < Self.mostSessions else { throw TokenError(.sessionCount) }
            state.lastSession += 1
            state.sessions[state.lastSession] = TokenSession(isReadWrite: readWrite)
            return state.lastSession
        }
    }

    func close(_ handle: CK_SESSION_HANDLE) throws(TokenError) {
        try initialized { state throws(TokenError) in
            guard state.sessions.removeValue(forKey: handle) != nil else { throw TokenError(.sessionHandleInvalid) }
            state.objects = state.objects.filter { $0.value.session != handle }
            if state.sessions.isEmpty { state.isLoggedIn = false }
        }
    }

    func closeAll() throws(TokenError) {
        try initialized { state throws(TokenError) in
            state.objects = state.objects.filter { $0.value.session == nil }
            (state.sessions, state.isLoggedIn) = ([:], false)
        }
    }

    func counts() throws(TokenError) -> (all: Int, readWrite: Int) {
        try initialized { state throws(TokenError) in
            (state.sessions.count, state.sessions.values.count(where: \.isReadWrite))
        }
    }

    /// Reads or changes a session.
    func session<Result>(
        _ handle: CK_SESSION_HANDLE, _ body: (inout TokenSession) throws(TokenError) -> Result
    ) throws(TokenError) -> Result {
        try initialized { state throws(TokenError) in
            // Taken out, so that what it has collected is not copied when it grows.
            guard var session = state.sessions.removeValue(forKey: handle) else {
                throw TokenError(.sessionHandleInvalid)
            }
            defer { state.sessions[handle] = session }
            return try body(&session)
        }
    }

    func isLoggedIn() throws(TokenError) -> Bool { try initialized { state throws(TokenError) in state.isLoggedIn } }

    /// Any PIN is right: the vault itself asks a person where that is needed. It only remembers the state.
    func log(in isIn: Bool, _ handle: CK_SESSION_HANDLE) throws(TokenError) {
        try session(handle) { _ throws(TokenError) in }
        try initialized { state throws(TokenError) in
            guard state.isLoggedIn != isIn else {
                throw TokenError(isIn ? .userAlreadyLoggedIn : .userNotLoggedIn)
            }
            state.isLoggedIn = isIn
        }
    }

    // MARK: Objects

    /// Searches, and keeps what was found for the session.
    ///
    /// - Parameter isShown: Whether an object is for the caller.
    func find(
        _ template: AttributeList, in handle: CK_SESSION_HANDLE, _ isShown: (TokenObject) -> Bool = { _ in true }
    ) throws(TokenError) {
        try session(handle) { session throws(TokenError) in
            guard session.found == nil else { throw TokenError(.operationActive) }
        }
        // A search for objects of sessions does not need the vault.
        let seen = template.values[Attribute.token] == [0] ? [:] : try refresh()
        try initialized { state throws(TokenError) in
            guard state.sessions[handle] != nil else { throw TokenError(.sessionHandleInvalid) }
            let found = state.objects.filter { number, object in
                (object.session != nil || seen[number] != nil) && isShown(object) && object.attributes.matches(template)
            }
            state.sessions[handle]?.found = found.keys.sorted()[...]
        }
    }

    /// Asks the daemon what there is, and returns it by its handles.
    func refresh() throws(TokenError) -> [CK_OBJECT_HANDLE: TokenObject] {
        // The environment of the program says whether it sees passwords.
        let includingPasswords = kc_environment("KEYCHAIN_PKCS11_DATA").map { String(cString: $0) } == "1"
        let objects: [TokenObject]
        do throws(TokenError) {
            objects = try asking { client throws(KeyClientError) in
                try client.objects(includingPasswords: includingPasswords)
            }.map { TokenObject($0) }
        } catch {
            try initialized { state throws(TokenError) in state.searchFailure = error }
            throw error
        }
        return try initialized { state throws(TokenError) in
            state.searchFailure = nil
            var seen: [CK_OBJECT_HANDLE: TokenObject] = [:]
            for object in objects {
                let number: CK_OBJECT_HANDLE
                if let known = state.handles[object.name] {
                    number = known
                } else {
                    state.lastObject += 1
                    number = state.lastObject
                    state.handles[object.name] = number
                }
                state.objects[number] = object
                seen[number] = object
            }
            return seen
        }
    }

    func object(_ handle: CK_OBJECT_HANDLE) throws(TokenError) -> TokenObject {
        try initialized { state throws(TokenError) in
            guard let object = state.objects[handle] else {
                throw state.searchFailure ?? TokenError(.keyHandleInvalid)
            }
            return object
        }
    }

    func attributes(of handle: CK_OBJECT_HANDLE) throws(TokenError) -> AttributeList {
        try initialized { state throws(TokenError) in
            guard let object = state.objects[handle] else {
                throw state.searchFailure ?? TokenError(.objectHandleInvalid)
            }
            return object.attributes
        }
    }

    /// Keeps an object until its session ends.
    func keep(_ object: TokenObject) throws(TokenError) -> CK_OBJECT_HANDLE {
        try initialized { state throws(TokenError) in
            guard let session = object.session, state.sessions[session] != nil else {
                throw TokenError(.sessionHandleInvalid)
            }
            guard state.objects.count < Self.mostObjects else { throw TokenError(.deviceMemory) }
            state.lastObject += 1
            state.objects[state.lastObject] = object
            return state.lastObject
        }
    }

    /// The most objects at once; more is a leak of the program that makes them.
    private static let mostObjects = 1 << 17

    /// Deletes an object.
    ///
    /// - Throws: CKR_ACTION_PROHIBITED for a public half whose private half is there: without it, a locked vault could
    ///   not show the key, and programs would not find it.
    func destroy(_ handle: CK_OBJECT_HANDLE, in session: CK_SESSION_HANDLE) throws(TokenError) {
        let isStoredPublicHalf = try initialized { state throws(TokenError) in
            state.objects[handle].map { $0.session == nil && $0.source.kind == .publicKey } ?? false
        }
        let seen = isStoredPublicHalf ? try refresh() : [:]
        let item: TokenObject? = try initialized { state throws(TokenError) in
            guard let object = state.objects[handle] else { throw TokenError(.objectHandleInvalid) }
            if object.session != nil {
                state.objects[handle] = nil
                return nil
            }
            guard state.sessions[session]?.isReadWrite == true else { throw TokenError(.sessionReadOnly) }
            // The lock hides the private half, so its identifier is not known.
            guard !object.source.isHidden else { throw TokenError(.userNotLoggedIn) }
            let hasPrivateHalf = seen.values.contains {
                $0.source.kind == .privateKey && $0.source.hash == object.source.hash
                    && $0.source.accessGroup == object.source.accessGroup
            }
            guard !hasPrivateHalf else { throw TokenError(.actionProhibited) }
            return object
        }
        guard let item else { return }
        do throws(TokenError) {
            try asking { client throws(KeyClientError) in try client.delete(item.source) }
        } catch {
            throw error.code == .keyHandleInvalid ? TokenError(.objectHandleInvalid) : error
        }
        try initialized { state throws(TokenError) in
            state.objects[handle] = nil
            state.handles[item.name] = nil
        }
    }

    // MARK: The daemon

    func asking<Result>(
        _ body: (KeyClient) throws(KeyClientError) -> Result
    ) throws(TokenError) -> Result {
        let client = try client()
        do {
            return try body(client)
        } catch {
            if case .unreachable = error {
                // The socket may be elsewhere by the next time.
                try initialized { state throws(TokenError) in if state.client === client { state.client = nil } }
            }
            throw TokenError(error)
        }
    }
}

/// Where the vault is.
enum VaultSockets {
    private static func place() -> VaultPlace? {
        // In a program with more rights than its user, kc_environment returns nothing.
        try? VaultPlace { name in kc_environment(name).map { String(cString: $0) } }
    }

    /// The sockets at which a daemon may listen.
    static func present() -> [String] {
        guard let place = place(), place.mode != .embedded else { return [] }
        return place.presentSockets
    }

    /// Whether there may be a vault, as far as a look at the file system tells.
    static func mayHaveVault() -> Bool {
        if !present().isEmpty { return true }
        guard let place = place(), place.mode != .daemon else { return false }
        return access(folder() + "/keybag", F_OK) == 0
    }

    /// Where to connect to. Starts the helper where no daemon can listen.
    ///
    /// - Parameter helper: The socket of a helper that was started before, which is preferred as long as it listens.
    static func open(helper: inout String?) -> [String] {
        if let helper, VaultHelper.listens(at: helper) { return [helper] }
        helper = nil
        let sockets = present()
        guard sockets.isEmpty, mayHaveVault(), let started = VaultHelper.start() else { return sockets }
        helper = started
        return [started]
    }

    /// The folder of the user's vault, as `ProcessVault.defaultPath()` has it.
    private static func folder() -> String {
        func value(_ name: String) -> String? {
            kc_environment(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        if let home = value("KEYCHAIN_HOME") { return home }
        if let data = value("XDG_DATA_HOME"), data.hasPrefix("/") { return data + "/keychain" }
        return (value("HOME") ?? "/nonexistent") + "/.local/share/keychain"
    }
}

extension TokenError {
    init(_ error: KeyClientError) {
        code =
            switch error {
            case .unreachable: .deviceError
            case .notFound: .keyHandleInvalid
            case .denied: .keyFunctionNotPermitted
            case .locked: .userNotLoggedIn
            case .canceled: .functionCanceled
            case .authenticationFailed: .pinIncorrect
            case .invalid: .dataInvalid
            case .tooLarge: .dataLengthRange
            case .memoryUnavailable: .deviceMemory
            case .busy, .other: .functionFailed
            }
    }
}
