import Glibc

/// Writes a new plain file from beginning to end, which has its name only once it is complete.
///
/// Not for several threads. Without ``finish(replacing:)`` nothing is left of it.
package final class PlainFileWriter {
    private let target: NewFile
    private var length: UInt64 = 0

    /// - Parameter mode: Who may use the file, whatever the umask says.
    package init(_ path: String, mode: mode_t = 0o600) throws(SealedFileError) {
        target = try NewFile(path, mode: mode)
    }

    /// A path under which this process reads what was written, until ``finish(replacing:)``; nil where there is no such
    /// thing (proc(5)).
    package var temporaryPath: String? { target.file.pathOfDescriptor }

    /// Adds data at the end.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(SealedFileError) {
        try target.file.write(bytes, at: length)
        length += UInt64(bytes.count)
    }

    /// Gives the file its name, once it is on the disk.
    ///
    /// - Parameter replacing: Whether a file that has the name may be replaced; it stays as it is until then.
    package func finish(replacing: Bool) throws(SealedFileError) {
        try target.publish(replacing: replacing, waitingForDisk: true)
    }
}
