import CLibrary
import FoundationEssentials
import KeychainModel
import StatusCodes
import VaultInterface

extension Failure {
    /// A failure of a file that was named to `keychain run`.
    static func input(_ path: String, _ reason: String) -> Failure {
        Failure(status: errSecParam, exitCode: ExitStatus.other, "\(path.escapedForTerminal): \(reason)")
    }

    static let memory = Failure(VaultError.memoryUnavailable)

    static func system(_ what: String, _ code: Int32) -> Failure {
        Failure(status: errSecIO, exitCode: ExitStatus.other, "\(what) (\(String(cString: strerror(code))))")
    }
}

/// Reads a file that was named to `keychain run`.
enum RunInput {
    /// The largest file in bytes: more than any file of settings has.
    static let limit = 1 << 20

    static func read(_ path: String) throws(Failure) -> Data {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw .input(path, "cannot be opened (\(String(cString: strerror(errno)))): name a file that you can read")
        }
        defer { close(descriptor) }
        do throws(DescriptorReader.Failure) {
            return try DescriptorReader.readAll(descriptor, limit: limit)
        } catch {
            switch error {
            case .tooLong: throw .input(path, "has more than \(limit >> 20) MiB: name a file of settings")
            case .system(let code):
                throw .input(path, "cannot be read (\(String(cString: strerror(code)))): name a file that you can read")
            }
        }
    }
}
