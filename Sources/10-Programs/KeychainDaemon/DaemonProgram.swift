import ArgumentParser
import CLibrary

/// The daemon: what the program `keychain` is under this name.
package enum DaemonProgram {
    package static let name = "keychaind"

    /// Serves a vault until a signal stops it, and ends the process.
    ///
    /// - Parameter arguments: The command line without the program's name.
    package static func main(_ arguments: [String]) -> Never {
        Daemon.main(arguments)
        exit(0)
    }
}
