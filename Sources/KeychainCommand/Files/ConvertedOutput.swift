import Foundation
import Glibc
import KeychainServices
import ProtectedFiles

/// Where a command that reads one file and makes another puts it.
enum ConvertedOutput {
    case standardOutput
    case file(String)

    var name: String {
        switch self {
        case .standardOutput: "-"
        case .file(let path): path
        }
    }

    /// - Parameter suggestion: The name when none was given; nil if there is none to be had.
    init(_ given: String?, for path: String, suggestion: String?, force: Bool) throws(Failure) {
        guard let name = given ?? (path == "-" ? "-" : suggestion) else {
            throw .usage(
                "the name \(path.escapedForTerminal) has no ending to leave out: name the new file with --output")
        }
        if name == "-" {
            self = .standardOutput
            return
        }
        self = .file(name)
        var information = stat()
        guard lstat(name, &information) == 0 else { return }
        guard information.st_mode & S_IFMT == S_IFREG || information.st_mode & S_IFMT == S_IFLNK else {
            throw Failure(
                status: errSecIO, exitCode: ExitStatus.other, "\(name.escapedForTerminal) is not a regular file")
        }
        // /dev/stdout is a link, which would be replaced.
        guard !name.hasPrefix("/dev/"), !name.hasPrefix("/proc/") else {
            throw Failure(
                status: errSecIO, exitCode: ExitStatus.other,
                "\(name.escapedForTerminal) is no place for a file: '-' is standard output")
        }
        guard force else {
            throw Failure(
                status: errSecDuplicateItem,
                "\(name.escapedForTerminal) exists already: choose another name with --output, or replace it with --force"
            )
        }
    }

    /// Writes to standard output, with the failure as a file's.
    static func writeStandard(_ bytes: UnsafeRawBufferPointer) throws(SealedFileError) {
        var written = 0
        while written < bytes.count {
            let put = Glibc.write(1, bytes.baseAddress?.advanced(by: written), bytes.count - written)
            if put < 0 {
                if errno == EINTR { continue }
                if errno == ENOSPC || errno == EDQUOT { throw .diskFull(path: "standard output") }
                throw .system(operation: "write", path: "standard output", errno: errno)
            }
            written += put
        }
    }
}
