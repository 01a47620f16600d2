import CLibrary
import CommandKit
import ProtectedFiles
import StatusCodes

/// Where a command that makes a file from another one writes it.
package enum ConvertedOutput {
    case standardOutput
    case file(String)

    package var name: String {
        switch self {
        case .standardOutput: "-"
        case .file(let path): path
        }
    }

    /// - Parameter suggestion: The name if none was given; nil if none can be made from `path`.
    package init(_ given: OutputOptions, for path: String, suggestion: String?) throws {
        guard let name = given.output ?? (path == "-" ? "-" : suggestion) else {
            throw Failure.usage(
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
                status: errSecIO, exitCode: ExitStatus.other,
                "\(name.escapedForTerminal) is not a regular file: choose another name with --output")
        }
        // /dev/stdout is a link, and would be replaced.
        guard !name.hasPrefix("/dev/"), !name.hasPrefix("/proc/") else {
            throw Failure(
                status: errSecIO, exitCode: ExitStatus.other,
                "\(name.escapedForTerminal) is not a place for a file: '-' is standard output")
        }
        try Self.refuseFileOfVault(name)
        guard given.force else {
            throw Failure(
                status: errSecDuplicateItem,
                "\(name.escapedForTerminal) exists already: choose another name with --output, or replace it with "
                    + "--force"
            )
        }
    }

    /// Refuses to replace a file of a vault, whatever --force says.
    package static func refuseFileOfVault(_ path: String) throws {
        guard !VaultFiles.include(path) else { throw Failure(SealedFileError.ofVault(path: path)) }
    }

    /// Writes to standard output, with the errors of a file.
    package static func writeStandard(_ bytes: UnsafeRawBufferPointer) throws(SealedFileError) {
        switch FileOutput.put(bytes, to: 1) {
        case 0: return
        case ENOSPC, EDQUOT: throw .diskFull(path: "standard output")
        case let code: throw .system(operation: "write", path: "standard output", errno: code)
        }
    }
}
