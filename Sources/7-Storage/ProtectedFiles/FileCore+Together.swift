import Dispatch
import FoundationEssentials
import Glibc
import KeychainModel
import Synchronization
import SystemLibraries

/// Opening chunks on all processors at the same time.
extension FileCore {
    /// Fewer chunks are not worth waking other threads for.
    private static let least = 4
    private static let processors = min(8, Processors.count)

    /// Opens chunks of full size, one after the other in `target`, or only to see whether they are what was written.
    ///
    /// - Returns: How many of them are holes; nil if they have to be opened one by one, be it to find what is wrong.
    func openTogether(
        _ chunks: Range<UInt64>, into target: UnsafeMutableRawBufferPointer?
    ) throws(SealedFileError) -> UInt64? {
        guard Self.processors > 1, chunks.count >= Self.least, pending == nil else { return nil }
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
// Safe to share between threads: the caller waits for all of them. `file` is only read from, at places that are given;
// each turn has a room of its own, and each place, with its part of `target`, is taken by one turn.
private struct ChunkJob: @unchecked Sendable {
    let file: OpenFile
    let cipher: ChunkCipher
    let first: UInt64
    let entries: [IndexEntry]
    /// For a chunk, one for each turn; none if there is a target.
    let rooms: [UnsafeMutableRawBufferPointer]
    let target: UnsafeMutableRawBufferPointer?

    /// Opens one chunk and returns whether it is what was written.
    func open(_ place: Int, turn: Int) -> Bool {
        let start = place * FileLayout.chunkSize
        let part = target.map { UnsafeMutableRawBufferPointer(rebasing: $0[start..<(start + FileLayout.chunkSize)]) }
        guard !entries[place].isHole else {
            part?.initializeMemory(as: UInt8.self, repeating: 0)
            return true
        }
        let chunk = first + UInt64(place)
        let bytes = part ?? rooms[turn]
        guard let count = try? file.read(into: bytes, at: FileLayout.offset(ofChunk: chunk)), count == bytes.count
        else { return false }
        return cipher.open(bytes, chunk: chunk, entry: entries[place])
    }
}
