import Bytes
import CLibrary
import FoundationEssentials
import SecureMemory

/// Reads what may be a secret: nothing of it stays in memory after the result is freed.
package enum DescriptorReader {
    package enum Failure: Error {
        /// There is more than the caller takes.
        case tooLong
        /// The number is that of `errno`.
        case system(Int32)
    }

    /// Reads a descriptor to its end, into memory that is wiped when it is freed.
    ///
    /// - Parameters:
    ///   - limit: The largest number of bytes that is accepted.
    ///   - keepingNewline: Whether a newline at the end belongs to it.
    package static func readAll(
        _ descriptor: Int32, limit: Int, keepingNewline: Bool = true
    ) throws(Failure) -> Data {
        var buffer = try allocate(65_536)
        var filled = 0
        do throws(Failure) {
            while true {
                // Full: what was read so far moves to a larger buffer, and the smaller one is wiped.
                if filled == buffer.count {
                    let larger = try allocate(buffer.count * 2)
                    larger.copyMemory(from: UnsafeRawBufferPointer(buffer))
                    discard(buffer)
                    buffer = larger
                }
                let free = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                let count = SystemCall.retryOnInterrupt { CLibrary.read(descriptor, free.baseAddress, free.count) }
                if count < 0 { throw .system(errno) }
                if count == 0 { break }
                filled += count
                guard filled <= limit else { throw .tooLong }
            }
        } catch {
            discard(buffer)
            throw error
        }
        var kept = filled
        if !keepingNewline, filled > 0, buffer[filled - 1] == UInt8(ascii: "\n") { kept -= 1 }
        guard kept > 0, let base = buffer.baseAddress else {
            discard(buffer)
            return Data()
        }
        // A newline is no secret, and nothing was written after it.
        return .wipedWhenFreed(adopting: base, count: kept)
    }

    private static func allocate(_ count: Int) throws(Failure) -> UnsafeMutableRawBufferPointer {
        guard let base = malloc(count) else { throw .system(ENOMEM) }
        return UnsafeMutableRawBufferPointer(start: base, count: count)
    }

    private static func discard(_ buffer: UnsafeMutableRawBufferPointer) {
        wipe(buffer)
        free(buffer.baseAddress)
    }
}
