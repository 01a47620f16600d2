import Bytes
import CLibrary
import Dispatch
import Synchronization
import SystemLibraries

/// Opening chunks on all processors at the same time.
extension FileCore {
    /// The smallest number of chunks that is worth starting other threads.
    private static let least = 4
    private static let processors = min(8, Processors.count)

    /// Opens chunks of full size into `target`, one after the other; or only verifies them if `target` is nil.
    ///
    /// - Returns: The number of holes among them; nil if the caller must open them one by one, for example to find the
    ///   damaged one.
    func openTogether(
        _ chunks: Range<UInt64>, into target: UnsafeMutableRawBufferPointer?
    ) throws(SealedFileError) -> UInt64? {
        guard opensTogether, Self.processors > 1, chunks.count >= Self.least, pending == nil else { return nil }
        let cipher = try usableSecrets().chunks
        var entries: [IndexEntry] = []
        for chunk in chunks { entries.append(try entry(ofChunk: chunk)) }
        while target == nil, rooms.count < Self.processors {
            rooms.append(try AlignedBuffer(count: FileLayout.chunkSize))
        }
        let job = ChunkJob(
            file: file, cipher: cipher, first: chunks.lowerBound, entries: entries, rooms: rooms.map(\.bytes),
            target: target)
        let next = Atomic<Int>(0)
        let isRight = Atomic<Bool>(true)
        DispatchQueue.concurrentPerform(iterations: Self.processors) { turn in
            while isRight.load(ordering: .relaxed) {
                let place = next.wrappingAdd(1, ordering: .relaxed).oldValue
                guard place < job.entries.count else { return }
                if !job.open(place, turn: turn) { isRight.store(false, ordering: .relaxed) }
            }
        }
        guard isRight.load(ordering: .relaxed) else { return nil }
        return entries.reduce(0) { $0 + ($1.isHole ? 1 : 0) }
    }
}

/// Chunks that several threads open.
// Safe to share between threads: the caller waits for all of them. They only read `file`, at given offsets. Each turn
// has its own buffer, and only one turn takes each place with its part of `target`.
private struct ChunkJob: @unchecked Sendable {
    let file: OpenFile
    let cipher: ChunkCipher
    let first: UInt64
    let entries: [IndexEntry]
    /// One buffer per turn, each for a chunk; none if there is a target.
    let rooms: [UnsafeMutableRawBufferPointer]
    let target: UnsafeMutableRawBufferPointer?

    /// Opens one chunk and returns whether it is intact.
    func open(_ place: Int, turn: Int) -> Bool {
        let start = place * FileLayout.chunkSize
        let part = target.map { UnsafeMutableRawBufferPointer(rebasing: $0[start..<(start + FileLayout.chunkSize)]) }
        guard !entries[place].isHole else {
            part?.initializeMemory(as: UInt8.self, repeating: 0)
            return true
        }
        let chunk = first + UInt64(clamping: place)
        let bytes = part ?? rooms[turn]
        guard let count = try? file.read(into: bytes, at: FileLayout.offset(ofChunk: chunk)), count == bytes.count
        else { return false }
        return cipher.open(bytes, chunk: chunk, entry: entries[place])
    }
}
