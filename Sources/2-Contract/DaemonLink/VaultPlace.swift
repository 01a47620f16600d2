import CLibrary

/// Where the vault of a process is: in the process, or with a daemon.
package enum VaultMode: String, Sendable, CaseIterable {
    /// In the process, whether or not there is a daemon.
    case embedded
    /// With the daemon, or nowhere.
    case daemon
    /// With the daemon if one listens, else in the process.
    case auto
}

/// What the environment says about where the vault is.
package struct VaultPlace: Sendable, Equatable {
    package var mode: VaultMode
    /// Where a daemon may listen, in the order to try.
    package var sockets: [String]
    /// The environment variable that keeps this process from asking a daemon; nil if it asks one.
    package private(set) var variableAgainstDaemon: String?

    /// - Parameter environment: Returns the value of a variable; nil if it is not set.
    /// - Throws: ``PlaceError`` for a variable that names no place.
    package init(environment: (String) -> String?) throws(PlaceError) {
        mode = .auto
        if let name = environment("KEYCHAIN_MODE") {
            guard let named = VaultMode(rawValue: name) else {
                throw PlaceError(reason: "KEYCHAIN_MODE is '\(name)'; it can be embedded, daemon or auto")
            }
            mode = named
            if mode == .embedded { variableAgainstDaemon = "KEYCHAIN_MODE" }
        } else if environment("KEYCHAIN_SOCKET") == nil, environment("KEYCHAIN_HOME") != nil {
            // Who names a folder wants this folder, and not the vault that a daemon serves.
            mode = .embedded
            variableAgainstDaemon = "KEYCHAIN_HOME"
        }
        if let path = environment("KEYCHAIN_SOCKET") {
            guard path.hasPrefix("/") else {
                throw PlaceError(reason: "KEYCHAIN_SOCKET is '\(path)'; it must be an absolute path")
            }
            sockets = [path]
            // Who names a socket wants that daemon: if nobody listens there, no folder takes its place.
            if mode == .auto { mode = .daemon }
        } else {
            let runtime = environment("XDG_RUNTIME_DIR").flatMap { $0.hasPrefix("/") ? $0 : nil }
            sockets = [runtime.map { $0 + "/keychain/socket" }, Self.systemSocket].compactMap { $0 }
            ownSocket = sockets.first { $0 != Self.systemSocket }
        }
    }

    /// The socket of the system's instance.
    package static let systemSocket = "/run/keychain/socket"

    /// The sockets that are there.
    ///
    /// Another user's folder of sockets is not looked into: `su` and `sudo` may leave its name in the environment.
    package var presentSockets: [String] {
        sockets.filter { path in
            var info = stat()
            return stat(path, &info) == 0 && (path != ownSocket || info.st_uid == geteuid())
        }
    }

    /// The first socket that this process may not even look at, because a folder is closed to it; nil if there is none.
    package var closedSocket: String? {
        sockets.first { access($0, F_OK) != 0 && errno == EACCES }
    }

    /// The reason why there is no connection to a socket that this process may not reach.
    package static func closedReason(_ path: String) -> String {
        "\(path): this program may not reach the socket. A daemon without --system serves its own user alone; start "
            + "keychaind with --system to serve others"
    }

    /// The socket below `XDG_RUNTIME_DIR`; nil if it is not in ``sockets``.
    private var ownSocket: String?
}

/// A variable of the environment that names no place for a vault.
package struct PlaceError: Error {
    package let reason: String
}
