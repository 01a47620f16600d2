/// What reading and writing takes besides the calls themselves: a signal may interrupt them (signal(7)), and they may
/// transfer a part of the bytes only.
///
/// As the calls do, these leave the reason of a failure in `errno`.
package enum SystemCall {
    /// Makes a call again for as long as a signal interrupts it.
    ///
    /// - Parameter call: Returns -1 when it failed.
    @inlinable
    package static func retryOnInterrupt<Number: SignedInteger>(_ call: () -> Number) -> Number {
        while true {
            let result = call()
            guard result == -1, errno == EINTR else { return result }
        }
    }

    /// Writes all of `bytes` where the descriptor stands.
    ///
    /// - Returns: False if that failed; a part may be written then.
    package static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        transferAll(bytes) { start, count, _ in write(descriptor, start, count) }
    }

    /// Writes all of `bytes` at a place of a file, in bytes from its start.
    ///
    /// - Returns: False if that failed; a part may be written then.
    package static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at offset: Int64) -> Bool {
        transferAll(bytes) { start, count, done in pwrite(descriptor, start, count, off_t(offset) + off_t(done)) }
    }

    /// Sends all of `bytes`; a peer that went away is `EPIPE`, and no signal.
    ///
    /// - Returns: False if that failed; a part may be sent then.
    package static func sendAll(_ bytes: UnsafeRawBufferPointer, to socket: Int32) -> Bool {
        transferAll(bytes) { start, count, _ in send(socket, start, count, Int32(truncatingIfNeeded: MSG_NOSIGNAL)) }
    }

    /// Reads where the descriptor stands until `room` is full or the file ends.
    ///
    /// - Returns: How many bytes were read; -1 if that failed.
    package static func readAll(into room: UnsafeMutableRawBufferPointer, from descriptor: Int32) -> Int {
        fill(room) { start, count, _ in read(descriptor, start, count) }
    }

    /// Reads from a place of a file on, in bytes from its start, until `room` is full or the file ends.
    ///
    /// - Returns: How many bytes were read; -1 if that failed.
    package static func readAll(
        into room: UnsafeMutableRawBufferPointer, from descriptor: Int32, at offset: Int64
    ) -> Int {
        fill(room) { start, count, done in pread(descriptor, start, count, off_t(offset) + off_t(done)) }
    }

    private static func transferAll(
        _ bytes: UnsafeRawBufferPointer,
        _ call: (_ start: UnsafeRawPointer?, _ count: Int, _ done: Int) -> Int
    ) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = retryOnInterrupt { call(bytes.baseAddress?.advanced(by: done), bytes.count - done, done) }
            guard count > 0 else {
                // Nothing was transferred, and no reason given: there is no room for it.
                if count == 0 { errno = ENOSPC }
                return false
            }
            done += count
        }
        return true
    }

    private static func fill(
        _ room: UnsafeMutableRawBufferPointer,
        _ call: (_ start: UnsafeMutableRawPointer?, _ count: Int, _ done: Int) -> Int
    ) -> Int {
        var done = 0
        while done < room.count {
            let count = retryOnInterrupt { call(room.baseAddress?.advanced(by: done), room.count - done, done) }
            if count < 0 { return -1 }
            if count == 0 { break }
            done += count
        }
        return done
    }
}
