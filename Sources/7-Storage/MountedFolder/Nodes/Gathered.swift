import Bytes
import CLibrary
import ProtectedFiles

/// Writes to a file that are collected and not yet in the file below.
struct Gathered {
    /// The collected chunks. The memory is kept after they were written; nil before the first write.
    private var chunks: ChangedChunks?
    /// The length of the data with the collected writes; nil without any.
    private(set) var length: UInt64?
    /// The reason why collected writes were lost when the key was discarded; nil after a program asked and got it.
    private(set) var loss: Errno?

    private static let chunkSize = UInt64(clamping: ChangedChunks.chunkSize)

    var isEmpty: Bool { length == nil }

    /// Reads until the buffer is full or the data end: what is collected, and the rest from the file below.
    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64, over file: SealedFile
    ) throws(Errno) -> Int {
        guard let chunks, let length else { return try Errno.of(file.read(into: buffer, at: offset)) }
        guard offset < length else { return 0 }
        let count = Int(clamping: min(UInt64(clamping: buffer.count), length - offset))
        var done = 0
        while done < count {
            let place = offset + UInt64(clamping: done)
            let part = Self.part(at: place, count - done)
            let target = UnsafeMutableRawBufferPointer(rebasing: buffer[done..<(done + part.count)])
            if let chunk = chunks[place / Self.chunkSize] {
                target.copyMemory(from: UnsafeRawBufferPointer(rebasing: chunk[part]))
            } else {
                let got = try Errno.of(file.read(into: target, at: place))
                UnsafeMutableRawBufferPointer(rebasing: target[got...])
                    .initializeMemory(as: UInt8.self, repeating: 0)
            }
            done += part.count
        }
        return count
    }

    /// Whether a write at `place` needs no other writes to go first.
    func hasRoom(at place: UInt64) -> Bool {
        guard let chunks else { return true }
        return !chunks.isFull || chunks[place / Self.chunkSize] != nil
    }

    /// Collects the beginning of a write, up to the end of a chunk. The caller checks ``hasRoom(at:)`` first.
    ///
    /// - Returns: The number of bytes that are collected.
    mutating func add(
        _ bytes: UnsafeRawBufferPointer, at place: UInt64, over file: SealedFile
    ) throws(Errno) -> Int {
        let part = Self.part(at: place, bytes.count)
        let room = try room(place / Self.chunkSize, isReplaced: part.count == ChangedChunks.chunkSize, over: file)
        UnsafeMutableRawBufferPointer(rebasing: room[part])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<part.count]))
        length = max(length ?? 0, place + UInt64(clamping: part.count))
        return part.count
    }

    /// Returns memory for a chunk. It has the chunk's data from the file, unless the write replaces all of them.
    private mutating func room(
        _ chunk: UInt64, isReplaced: Bool, over file: SealedFile
    ) throws(Errno) -> UnsafeMutableRawBufferPointer {
        if let room = chunks?[chunk] { return room }
        let chunks = if let chunks { chunks } else { try ChangedChunks() }
        self.chunks = chunks
        let former = if let length { length } else { try Errno.of(file.length) }
        let room = chunks.add(chunk)
        length = former
        guard !isReplaced else { return room }
        do throws(SealedFileError) {
            _ = try file.read(into: room, at: chunk * Self.chunkSize)
        } catch {
            chunks.removeLast(chunk)
            if chunks.isEmpty { length = nil }
            throw Errno(error)
        }
        return room
    }

    /// The bytes of a chunk from `place` on, of which `most` are wanted.
    private static func part(at place: UInt64, _ most: Int) -> Range<Int> {
        let start = Int(clamping: place % chunkSize)
        return start..<min(ChangedChunks.chunkSize, start + most)
    }

    /// Writes the collected data to the file below. Data that cannot be written stay collected.
    mutating func write(to file: SealedFile) throws(Errno) {
        guard let chunks, let length else { return }
        for run in chunks.runs {
            let start = run.first * Self.chunkSize
            let count = Int(clamping: min(UInt64(clamping: run.bytes.count), length - start))
            try Errno.of(file.write(UnsafeRawBufferPointer(rebasing: run.bytes[..<count]), at: start))
        }
        clear()
    }

    /// Forgets what is collected, and wipes it.
    mutating func clear() {
        chunks?.clear()
        length = nil
    }

    /// Forgets what is collected, and keeps the reason for the program.
    mutating func lose(_ reason: Errno) {
        clear()
        loss = reason
    }

    /// Returns the loss once.
    mutating func takeLoss() -> Errno? {
        defer { loss = nil }
        return loss
    }
}
