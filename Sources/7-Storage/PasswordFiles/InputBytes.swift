import Bytes
import CLibrary
import FoundationEssentials
import ProtectedFiles

/// A sequence of bytes that can be peeked at before they are read.
package protocol ByteStream: AnyObject {
    /// Reads up to `count` bytes; fewer only at the end.
    func read(_ count: Int) throws(SealedFileError) -> Data
    /// Returns up to `count` next bytes without consuming them.
    func peek(_ count: Int) throws(SealedFileError) -> Data
}

/// The bytes of an open descriptor: of a file, a pipe or a terminal.
package final class InputBytes: ByteStream {
    private static let pieceSize = 1 << 17

    private let descriptor: Int32
    private let isOwned: Bool
    /// The name for messages.
    package let path: String
    private var buffer = Data()

    /// - Throws: ``SealedFileError/notFound(path:)`` and others.
    package init(_ path: String) throws(SealedFileError) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        isOwned = true
        self.path = path
        guard descriptor >= 0 else {
            throw errno == ENOENT ? .notFound(path: path) : .system(operation: "open", path: path, errno: errno)
        }
    }

    /// Reads a descriptor that the caller has opened and closes.
    package init(_ descriptor: Int32, named name: String) {
        (self.descriptor, isOwned, path) = (descriptor, false, name)
    }

    deinit {
        if isOwned, descriptor >= 0 { close(descriptor) }
    }

    /// The size of a file in bytes; 0 for anything else.
    package var size: UInt64 {
        var information = stat()
        guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG else { return 0 }
        return UInt64(clamping: information.st_size)
    }

    package func read(_ count: Int) throws(SealedFileError) -> Data {
        try fill(count)
        let taken = Data(buffer.prefix(count))
        buffer = Data(buffer.dropFirst(count))
        return taken
    }

    package func peek(_ count: Int) throws(SealedFileError) -> Data {
        try fill(count)
        return Data(buffer.prefix(count))
    }

    /// Reads up to the size of `room`. Returns 0 only at the end.
    package func read(into room: UnsafeMutableRawBufferPointer) throws(SealedFileError) -> Int {
        guard buffer.isEmpty else {
            let count = min(buffer.count, room.count)
            buffer.copyBytes(to: room, count: count)
            buffer = Data(buffer.dropFirst(count))
            return count
        }
        let got = SystemCall.retryOnInterrupt { CLibrary.read(descriptor, room.baseAddress, room.count) }
        guard got >= 0 else { throw .system(operation: "read", path: path, errno: errno) }
        return got
    }

    /// Reads until the buffer has `count` bytes or the input ends.
    private func fill(_ count: Int) throws(SealedFileError) {
        while buffer.count < count {
            let start = buffer.count
            buffer.count = max(count, Self.pieceSize)
            let room = buffer.count - start
            let got = buffer.withUnsafeMutableBytes { buffer in
                SystemCall.retryOnInterrupt {
                    CLibrary.read(descriptor, buffer.baseAddress?.advanced(by: start), room)
                }
            }
            let number = errno
            buffer.count = start + max(0, got)
            if got < 0 { throw .system(operation: "read", path: path, errno: number) }
            if got == 0 { return }
        }
    }
}
