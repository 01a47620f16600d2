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

    /// - Parameter environment: The value of a variable; nil if it is not set.
    package init(environment: (String) -> String?) throws(VaultError) {
        mode = .auto
        if let name = environment("KEYCHAIN_MODE") {
            guard let named = VaultMode(rawValue: name) else {
                throw .unusableVault(reason: "KEYCHAIN_MODE is '\(name)'; it can be embedded, daemon or auto")
            }
            mode = named
        } else if environment("KEYCHAIN_SOCKET") == nil, environment("KEYCHAIN_HOME") != nil {
            // A folder of one's own is meant to be used, whatever a daemon serves.
            mode = .embedded
        }
        if let path = environment("KEYCHAIN_SOCKET") {
            sockets = [path]
            // Nor does a socket that is named turn into a folder when nobody listens.
            if mode == .auto { mode = .daemon }
        } else {
            sockets = [environment("XDG_RUNTIME_DIR").map { $0 + "/keychain/socket" }, Self.systemSocket]
                .compactMap { $0 }
        }
    }

    /// The socket of the system's instance.
    package static let systemSocket = "/run/keychain/socket"

    /// The sockets that are there.
    package var presentSockets: [String] {
        sockets.filter { path in
            var info = stat()
            return stat(path, &info) == 0
        }
    }
}
