import Bytes
import CLibrary

/// A writer of a new plain file, from beginning to end. The file gets its name only when it is complete.
///
/// For one thread. Without ``finish(replacing:)``, nothing remains of the file.
package final class PlainFileWriter {
    private let target: NewFile
    private var length: UInt64 = 0

    /// - Parameter mode: The permissions of the file. The umask does not reduce them.
    package init(_ path: String, mode: mode_t = 0o600) throws(SealedFileError) {
        target = try NewFile(path, mode: mode)
    }

    /// A path for reading the written data in this process until ``finish(replacing:)``; nil if the system has no such
    /// paths (proc(5)).
    package var temporaryPath: String? { target.file.pathOfDescriptor }

    /// Adds data at the end.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(SealedFileError) {
        try target.file.write(bytes, at: length)
        length += UInt64(clamping: bytes.count)
    }

    /// Gives the file its name when it is on the disk.
    ///
    /// - Parameter replacing: Whether to replace a file with this name, which stays unchanged until then.
    package func finish(replacing: Bool) throws(SealedFileError) {
        try target.publish(replacing: replacing, waitingForDisk: true)
    }
}
