import CLibrary
import Foundation
import KeychainServices

/// The file that says that this installation of a program was started before. Its folder is locked
/// against other processes while this value exists.
struct InstallationMarker: ~Copyable {
    private let folder: Int32
    private let name: String

    /// Opens and locks the folder of the marker, which is made if it is missing.
    ///
    /// - Throws: ``KeychainError/Code/busy`` when another process keeps the lock for the whole deadline.
    init(_ marker: URL, deadline: Duration = .seconds(30)) throws {
        let name = marker.lastPathComponent
        guard marker.isFileURL, !name.isEmpty, name != "/", name != ".." else {
            throw KeychainError.invalidRequest("the marker of an installation is a file; give the URL of one")
        }
        let path = marker.deletingLastPathComponent().path
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw KeychainError.marker("the folder of the installation marker cannot be made at \(path)", errno: nil)
        }
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw KeychainError.marker("\(path) cannot be opened", errno: errno) }
        let end = ContinuousClock.now + deadline
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            guard code == EWOULDBLOCK || code == EINTR else {
                close(descriptor)
                throw KeychainError.marker("\(path) cannot be locked", errno: code)
            }
            guard ContinuousClock.now < end else {
                close(descriptor)
                throw KeychainError(
                    .busy, status: errSecNotAvailable,
                    message: "another process keeps \(path) locked; try again when it is done")
            }
            usleep(UInt32.random(in: 500...5_000))
        }
        self.folder = descriptor
        self.name = name
    }

    deinit {
        // Closing the only descriptor of this open folder releases its lock.
        close(folder)
    }

    /// Whether the marker is there. What cannot be told is an error, never "no".
    func exists() throws -> Bool {
        var info = stat()
        if fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 { return true }
        guard errno == ENOENT else {
            throw KeychainError.marker("the installation marker cannot be examined", errno: errno)
        }
        return false
    }

    /// Makes the marker, an empty file, and makes it durable.
    func write() throws {
        let descriptor = openat(folder, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw KeychainError.marker("the installation marker cannot be written", errno: errno)
        }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0, fsync(folder) == 0 else {
            throw KeychainError.marker("the installation marker cannot be written", errno: errno)
        }
    }
}

extension KeychainError {
    fileprivate static func marker(_ reason: String, errno: Int32?) -> KeychainError {
        let cause = errno.map { ": " + String(cString: strerror($0)) } ?? ""
        return .inputOutput(reason + cause + "; make its folder writable for this user, or choose another")
    }
}
