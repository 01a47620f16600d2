import Foundation
import Keychain
import NIOCore

/// Why nothing is served, for the person who started it.
struct ServerFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// What the system says of an address.
    init(_ error: IOError, host: String, port: Int) {
        switch error.errnoCode {
        case EADDRINUSE: self.init("Port \(port) is in use; choose another with --port.")
        case EACCES: self.init("Port \(port) is for root alone; choose one from 1024 on with --port.")
        case EADDRNOTAVAIL: self.init("\(host) is no address of this machine; choose another with --host.")
        default:
            self.init("Nothing can be served at \(host), port \(port): \(String(cString: strerror(error.errnoCode)))")
        }
    }

    /// What is said of an error: its own words where it has some for people.
    static func saying(_ error: any Error) -> any Error {
        (error as? KeychainError).map { ServerFailure("The vault of the folder cannot be used: \($0.message)") }
            ?? error
    }
}
