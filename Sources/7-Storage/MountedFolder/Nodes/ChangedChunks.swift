import Glibc
import KeychainModel

/// Chunks of a file that were written to and are not in the file below yet, as plaintext.
///
/// Small writes next to each other are sealed once this way, not each for itself.
final class ChangedChunks {
    /// As in the file format.
    static let chunkSize = 65_536
    /// As much as the file takes as one change.
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

    /// The memory of a chunk that is here.
    subscript(chunk: UInt64) -> UnsafeMutableRawBufferPointer? {
        slots[chunk].map { room($0) }
    }

    /// Memory for a chunk that is not here, while there is any: zeros.
    func add(_ chunk: UInt64) -> UnsafeMutableRawBufferPointer {
        let room = room(used)
        room.initializeMemory(as: UInt8.self, repeating: 0)
        slots[chunk] = used
        used += 1
        return room
    }

    /// Takes back ``add(_:)``, which must have been the last.
    func removeLast(_ chunk: UInt64) {
        slots[chunk] = nil
        used -= 1
    }

    private func room(_ slot: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: memory + slot * Self.chunkSize, count: Self.chunkSize)
    }

    /// Chunks that follow each other in the file and in memory, as few times as possible: the first and all their bytes.
    var runs: [(first: UInt64, bytes: UnsafeRawBufferPointer)] {
        var runs: [(first: UInt64, slot: Int, count: Int)] = []
        for (chunk, slot) in slots.sorted(by: { $0.key < $1.key }) {
            if let last = runs.last, last.first + UInt64(last.count) == chunk, last.slot + last.count == slot {
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

    /// Forgets and wipes everything.
    func clear() {
        SecretBytes.wipe(UnsafeMutableRawBufferPointer(start: memory, count: used * Self.chunkSize))
        slots = [:]
        used = 0
    }
}
