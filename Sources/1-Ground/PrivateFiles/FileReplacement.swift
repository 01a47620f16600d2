import CLibrary
import FoundationEssentials

/// Replacing a file in one step.
package enum FileReplacement {
    /// What failed, on which of the two files, and why.
    package struct Failure: Error {
        package let operation: String
        package let path: String
        package let errno: Int32
    }

    /// Replaces the file at `path` so that a crash at any moment leaves the old or the new file.
    ///
    /// It writes a temporary file of mode 0600, waits until that is on the disk, and renames it. The folder's list of
    /// files is not durable yet then.
    ///
    /// - Parameter temporary: A path in the same folder, where no file is. A failure leaves none there.
    package static func replace(
        _ path: String, by temporary: String, with contents: Data
    ) throws(Failure) {
        do throws(Failure) {
            try write(to: temporary) { descriptor in
                contents.withUnsafeBytes { SystemCall.writeAll($0, to: descriptor) } ? nil : last("write", temporary)
            }
            guard rename(temporary, path) == 0 else { throw last("replace", path) }
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// Makes the file at `path` in the same way, from what `body` writes.
    ///
    /// - Parameters:
    ///   - isReplacing: Whether a file that is there is replaced; otherwise it stays, and the call fails with `EEXIST`.
    ///   - body: Writes the contents to a descriptor.
    /// - Throws: ``Failure``, and what `body` throws.
    package static func make(
        _ path: String, by temporary: String, isReplacing: Bool, _ body: (Int32) throws -> Void
    ) throws {
        var cause: (any Error)?
        do throws(Failure) {
            try write(to: temporary) { descriptor in
                do {
                    try body(descriptor)
                    return nil
                } catch {
                    cause = error
                    return Failure(operation: "write", path: temporary, errno: EIO)
                }
            }
            if isReplacing {
                guard rename(temporary, path) == 0 else { throw last("replace", path) }
            } else {
                guard link(temporary, path) == 0 else { throw last("create", path) }
                unlink(temporary)
            }
        } catch {
            unlink(temporary)
            throw cause ?? error
        }
    }

    /// - Parameter body: Writes the contents to a descriptor, or returns why it did not.
    private static func write(to path: String, _ body: (Int32) -> Failure?) throws(Failure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw last("create", path) }
        defer { close(descriptor) }
        // The umask may have taken the owner's rights away.
        guard fchmod(descriptor, 0o600) == 0 else { throw last("set the mode of", path) }
        if let failure = body(descriptor) { throw failure }
        guard fsync(descriptor) == 0 else { throw last("flush", path) }
    }

    private static func last(_ operation: String, _ path: String) -> Failure {
        Failure(operation: operation, path: path, errno: errno)
    }
}
