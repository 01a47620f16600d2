import CLibrary
import SystemLibraries

/// The reason why a D-Bus operation failed.
package enum BusError: Error, Equatable, CustomStringConvertible {
    case libraryMissing(SystemLibraryError)
    /// There is no bus, or the connection was lost.
    case noBus(reason: String)
    /// The service does not run and could not be started.
    case noService(String)
    /// The service answered with an error of this name.
    case refused(name: String, message: String)
    /// Another program has the name on the bus.
    case nameTaken(String)
    case timedOut(member: String)
    /// The answer does not match its interface.
    case unexpectedAnswer(member: String)
    case system(operation: String, errno: Int32)

    package var description: String {
        switch self {
        case .libraryMissing(let error): error.description
        case .noBus(let reason): "the D-Bus cannot be reached (\(reason)); start it"
        case .noService(let name): "there is no \(name) on the D-Bus; install and start it"
        case .refused(let name, let message): message.isEmpty ? name : "\(message) (\(name))"
        case .nameTaken(let name): "another program has the name \(name) on the bus, and keeps it"
        case .timedOut(let member): "no answer to \(member) over D-Bus in time; try again"
        case .unexpectedAnswer(let member): "the answer to \(member) over D-Bus is malformed"
        case .system(let operation, let errno): "\(operation): \(String(cString: strerror(errno)))"
        }
    }

    /// Returns the error for the result of an sd-bus function.
    static func code(_ result: Int32, _ operation: String) -> BusError {
        switch -result {
        case ENOENT, ECONNREFUSED, ECONNRESET, ENOTCONN, EPIPE, EHOSTDOWN, ENOMEDIUM:
            .noBus(reason: String(cString: strerror(-result)))
        case ETIMEDOUT: .timedOut(member: operation)
        default: .system(operation: operation, errno: -result)
        }
    }
}
