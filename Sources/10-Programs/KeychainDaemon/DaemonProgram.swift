import ArgumentParser
import CLibrary

/// The daemon: what the program `keychain` is under this name.
package enum DaemonProgram {
    package static let name = "keychaind"
    /// The release that the daemon and the command line tool, which are one program, belong to.
    package static let version = "0.2.0"

    /// Serves a vault until a signal stops it, and ends the process.
    ///
    /// - Parameter arguments: The command line without the program's name.
    package static func main(_ arguments: [String]) -> Never {
        Daemon.main(arguments)
        exit(0)
    }
}
