import Glibc

/// Overwrites small blocks of memory that this thread has just given back.
///
/// To be called right after a library computed a key in buffers of its own and freed them as they were, as
/// swift-crypto's HKDF does. The allocator hands out the block freed last first (malloc's per-thread cache),
/// so that a few blocks of each small size are the ones that held the key.
package func wipeRecentlyFreed() {
    withUnsafeTemporaryAllocation(of: UnsafeMutableRawPointer?.self, capacity: 8 * 16) { blocks in
        var count = 0
        // 16 to 256 bytes: keys, blocks of a hash, and the objects around them.
        for size in stride(from: 16, through: 256, by: 16) {
            for _ in 0..<8 {
                // The sizes that glibc hands out are 16n + 8 bytes.
                let block = malloc(size - 8)
                if let block { explicit_bzero(block, size - 8) }
                blocks.initializeElement(at: count, to: block)
                count += 1
            }
        }
        for index in (0..<count).reversed() { free(blocks[index]) }
    }
}
