import Bytes
import CLibrary

/// The plaintext of changed chunks that are not yet in the file below.
///
/// Several small writes in the same chunk are therefore sealed only once.
final class ChangedChunks {
    /// The chunk size of the file format in bytes.
    static let chunkSize = 65_536
    /// The largest number of chunks, which is one change of the file.
    static let limit = 16

    private let memory: UnsafeMutableRawPointer
    private var slots: [UInt64: Int] = [:]

    /// - Throws: `ENOMEM`.
    init() throws(Errno) {
        var base: UnsafeMutableRawPointer?
        guard posix_memalign(&base, 4096, Self.limit * Self.chunkSize) == 0, let base else { throw Errno(ENOMEM) }
        memory = base
    }

    deinit {
        clear()
        free(memory)
    }

    private var used = 0

    var isEmpty: Bool { slots.isEmpty }
    var isFull: Bool { used == Self.limit }

    /// Returns the memory of a chunk; nil if it is not here.
    subscript(chunk: UInt64) -> UnsafeMutableRawBufferPointer? {
        slots[chunk].map { room($0) }
    }

    /// Returns zeroed memory for a new chunk. The caller checks ``isFull`` first.
    func add(_ chunk: UInt64) -> UnsafeMutableRawBufferPointer {
        let room = room(used)
        room.initializeMemory(as: UInt8.self, repeating: 0)
        slots[chunk] = used
        used += 1
        return room
    }

    /// Undoes ``add(_:)``, which must have been the last call.
    func removeLast(_ chunk: UInt64) {
        slots[chunk] = nil
        used -= 1
    }

    private func room(_ slot: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: memory + slot * Self.chunkSize, count: Self.chunkSize)
    }

    /// The chunks in as few runs as possible, each consecutive in the file and in memory: the first chunk and all
    /// bytes.
    var runs: [(first: UInt64, bytes: UnsafeRawBufferPointer)] {
        var runs: [(first: UInt64, slot: Int, count: Int)] = []
        for (chunk, slot) in slots.sorted(by: { $0.key < $1.key }) {
            if let last = runs.last, last.first + UInt64(clamping: last.count) == chunk, last.slot + last.count == slot
            {
                runs[runs.count - 1].count += 1
            } else {
                runs.append((chunk, slot, 1))
            }
        }
        return runs.map { run in
            let bytes = UnsafeRawBufferPointer(
                start: memory + run.slot * Self.chunkSize, count: run.count * Self.chunkSize)
            return (run.first, bytes)
        }
    }

    /// Removes and wipes all chunks.
    func clear() {
        SecretBytes.wipe(UnsafeMutableRawBufferPointer(start: memory, count: used * Self.chunkSize))
        slots = [:]
        used = 0
    }
}
