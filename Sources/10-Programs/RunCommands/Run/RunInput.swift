import CLibrary
import CommandKit
import FoundationEssentials

/// Reads a file of settings that was named to a command.
enum RunInput {
    /// The largest file in bytes: more than any file of settings has.
    static let limit = 1 << 20
    /// What some editors write at the start of UTF-8.
    static let byteOrderMark = Array("\u{FEFF}".utf8)

    /// Waits for nobody: a pipe by its name has perhaps no writer, and a device no end.
    static func read(_ path: String) throws(Failure) -> Data {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            throw .input(path, "cannot be opened (\(String(cString: strerror(errno)))): name a file that you can read")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, isReadable(status, path) else {
            throw .input(path, "is not a regular file: name a file of settings")
        }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
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

    /// A pipe that the shell made for this command, as in `<(...)`, has a writer.
    private static func isReadable(_ status: stat, _ path: String) -> Bool {
        switch status.st_mode & S_IFMT {
        case S_IFREG: true
        case S_IFIFO: ["/dev/fd/", "/dev/stdin", "/proc/self/fd/"].contains { path.hasPrefix($0) }
        default: false
        }
    }
}
