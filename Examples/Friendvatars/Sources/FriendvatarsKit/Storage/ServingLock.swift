import Foundation
import Glibc

/// That a process alone serves a folder, for as long as this exists: two would count the tries of passwords apart.
///
/// The lock is of flock(2), which ends with the process, however that does.
public final class ServingLock: Sendable {
    private let descriptor: Int32

    /// - Throws: ``DataFolderFailure`` if another process serves the folder.
    public init(_ folder: DataFolder) throws(DataFolderFailure) {
        let path = folder.url.appending(path: "server.lock").path(percentEncoded: false)
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw DataFolderFailure(folder.url, errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            if code == EWOULDBLOCK { throw DataFolderFailure(folder.url, "is served by another process; end that") }
            throw DataFolderFailure(folder.url, code)
        }
    }

    deinit { close(descriptor) }
}
