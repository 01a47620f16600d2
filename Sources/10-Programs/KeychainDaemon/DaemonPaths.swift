import Bytes
import CLibrary
import DaemonLink
import ProcessVault
import SystemLibraries
import VaultInterface
import VaultService

/// Where the daemon's files are.
struct DaemonPaths {
    var socket: String
    var home: String
    var entitlements: String
    /// The owner's command line tool: the program `keychain` in the folder of the daemon's executable.
    var ownerTool: String

    init(_ options: DaemonOptions) throws(DaemonError) {
        if options.system {
            socket = options.socket ?? VaultPlace.systemSocket
            home = options.home ?? "/var/lib/keychain"
            entitlements = options.entitlements ?? Entitlements.systemFile
        } else {
            socket = if let path = options.socket { path } else { try Self.userSocket() }
            home = if let path = options.home { path } else { try Self.userHome() }
            guard let path = options.entitlements ?? Entitlements.userFile else {
                throw DaemonError("there is no place for the entitlements: set HOME, or give --entitlements")
            }
            entitlements = path
        }
        ownerTool = Self.folder(of: Self.executable()) + "/keychain"
        for (option, path) in [("--socket", socket), ("--home", home), ("--entitlements", entitlements)]
        where !path.hasPrefix("/") {
            throw DaemonError("\(option) must be an absolute path, not '\(path)'")
        }
    }

    /// The socket that programs take for their session bus.
    var busSocket: String { socketFolder + "/bus" }

    /// The socket from which service managers load credentials.
    var credentialsSocket: String { socketFolder + "/credentials" }

    /// The address of the user's session bus.
    ///
    /// - Throws: ``DaemonError`` if there is none.
    static func sessionBus() throws(DaemonError) -> String {
        if let address = Environment.value(of: "DBUS_SESSION_BUS_ADDRESS") { return address }
        guard let folder = Environment.value(of: "XDG_RUNTIME_DIR") else {
            throw DaemonError("there is no session bus: set DBUS_SESSION_BUS_ADDRESS, or leave out --session-bus")
        }
        return "unix:path=\(folder)/bus"
    }

    var socketFolder: String { Self.folder(of: socket) }

    static func folder(of path: String) -> String {
        path.split(separator: "/").dropLast().reduce(into: "") { $0 += "/" + $1 }
    }

    private static func userSocket() throws(DaemonError) -> String {
        if let path = Environment.value(of: "KEYCHAIN_SOCKET") { return path }
        guard let folder = Environment.value(of: "XDG_RUNTIME_DIR") else {
            throw DaemonError("there is no place for the socket: set XDG_RUNTIME_DIR, or give --socket")
        }
        return folder + "/keychain/socket"
    }

    private static func userHome() throws(DaemonError) -> String {
        do {
            return try ProcessVault.defaultPath()
        } catch {
            throw DaemonError(error.description)
        }
    }

    private static func executable() -> String {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = max(0, readlink("/proc/self/exe", &buffer, buffer.count))
        return String(decoding: buffer[..<count], as: UTF8.self)
    }
}

/// Why the daemon does not start.
struct DaemonError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
