import Bytes
import CLibrary
import Dispatch
import Synchronization
import SystemLibraries

/// Writes to a file on a thread of its own, while the caller makes the data that follow.
///
/// The writes reach the file in the order in which they were made. One that fails is reported by a later call, at the
/// latest by ``drain()``, and nothing is written after it. For a file that nobody else reads before the drain.
// Safe to share between threads: the caller fills one buffer, and the queue, which runs one block at a time, writes
// the others in the order in which it got them. The caller takes a buffer again only after the signal that its block
// has ended. The other members are constants, atomic, or used by the caller alone.
final class WriteBehind: @unchecked Sendable {
    /// What is written with one call, unless it is at different places of the file.
    static let bufferSize = 1 << 20
    private static let bufferCount = 3
    /// The largest number in this process. Each takes a processor and 3 MiB, and among many files, each has a processor
    /// of its own anyway.
    static let limit = Processors.count / 2
    private static let active = Atomic<Int>(0)

    private final class Buffer {
        let memory: AlignedBuffer
        var filled = 0
        /// The parts of the memory, and their offsets in the file.
        var parts: [(range: Range<Int>, offset: UInt64)] = []

        init() throws(SealedFileError) { memory = try AlignedBuffer(count: WriteBehind.bufferSize) }
    }

    private let path: String
    private let descriptor: Int32
    private let queue = DispatchQueue(label: "keychain.file.write")
    private let buffers: [Buffer]
    private let written = DispatchSemaphore(value: 0)
    private let failure = Mutex<SealedFileError?>(nil)
    /// The buffer that is being filled.
    private var current: Buffer?
    /// The number of buffers that the queue has got so far.
    private var submitted = 0

    /// - Parameter descriptor: Stays open until ``drain()`` returns.
    /// - Returns: Nil if no processor is left for it.
    init?(_ path: String, _ descriptor: Int32, limit: Int) throws(SealedFileError) {
        guard Self.active.wrappingAdd(1, ordering: .relaxed).newValue <= limit else {
            Self.active.wrappingSubtract(1, ordering: .relaxed)
            return nil
        }
        (self.path, self.descriptor) = (path, descriptor)
        var made: [Buffer] = []
        do throws(SealedFileError) {
            for _ in 0..<Self.bufferCount { made.append(try Buffer()) }
        } catch {
            Self.active.wrappingSubtract(1, ordering: .relaxed)
            throw error
        }
        buffers = made
    }

    deinit { Self.active.wrappingSubtract(1, ordering: .relaxed) }

    /// Returns memory for the next data, until the next call. ``commit(_:at:)`` says where they belong.
    ///
    /// - Parameter count: At most ``bufferSize``.
    func room(for count: Int) throws(SealedFileError) -> UnsafeMutableRawBufferPointer {
        if let current, current.memory.count - current.filled >= count { return rest(of: current, count) }
        submit()
        try check()
        if current == nil, submitted >= buffers.count { written.wait() }
        let buffer = buffers[submitted % buffers.count]
        (buffer.filled, buffer.parts) = (0, [])
        current = buffer
        return rest(of: buffer, count)
    }

    private func rest(of buffer: Buffer, _ count: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: buffer.memory.first(buffer.filled + count)[buffer.filled...])
    }

    /// Writes the first `count` bytes of the room.
    func commit(_ count: Int, at offset: UInt64) {
        guard let current, count > 0 else { return }
        let range = current.filled..<(current.filled + count)
        current.filled = range.upperBound
        if let last = current.parts.last, last.range.upperBound == range.lowerBound,
            last.offset + UInt64(clamping: last.range.count) == offset
        {
            current.parts[current.parts.count - 1].range = last.range.lowerBound..<range.upperBound
        } else {
            current.parts.append((range, offset))
        }
    }

    /// Leaves the first `count` bytes of the room out.
    func leave(_ count: Int) { current?.filled += count }

    /// Writes a copy of `bytes`.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SealedFileError) {
        var done = 0
        while done < bytes.count {
            let count = min(bytes.count - done, Self.bufferSize)
            try room(for: count).copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[done..<(done + count)]))
            commit(count, at: offset + UInt64(clamping: done))
            done += count
        }
    }

    /// Waits until everything is in the file.
    func drain() throws(SealedFileError) {
        wait()
        try check()
    }

    /// Waits until nothing more is written.
    func wait() {
        submit()
        queue.sync {}
    }

    private func check() throws(SealedFileError) {
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    /// Gives the buffer that is being filled to the queue. The next room is in another one.
    private func submit() {
        guard let buffer = current, !buffer.parts.isEmpty else { return }
        let number = submitted % buffers.count
        (current, submitted) = (nil, submitted + 1)
        queue.async {
            self.write(self.buffers[number])
            self.written.signal()
        }
    }

    private func write(_ buffer: Buffer) {
        guard failure.withLock({ $0 }) == nil else { return }
        let bytes = UnsafeRawBufferPointer(buffer.memory.first(buffer.filled))
        for part in buffer.parts {
            let piece = UnsafeRawBufferPointer(rebasing: bytes[part.range])
            guard SystemCall.writeAll(piece, to: descriptor, at: Int64(clamping: part.offset)) else {
                let error = SealedFileError.last("write", path)
                return failure.withLock { $0 = error }
            }
        }
    }
}
