import ArgumentParser
import Glibc

/// The program that `keychain` is when it is called by this name.
package enum DaemonProgram {
    package static let name = "keychaind"

    /// Serves a vault until a signal says to stop, and ends the process.
    ///
    /// - Parameter arguments: The command line without the program's name.
    package static func main(_ arguments: [String]) -> Never {
        Daemon.main(arguments)
        exit(0)
    }
}
