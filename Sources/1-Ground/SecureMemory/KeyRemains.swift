import CLibrary

/// The sizes of the heap blocks that a library frees with key bytes still in them.
package enum KeyRemains {
    /// swift-crypto's HKDF: keys, blocks of a hash, and the objects around them.
    case derivation
    /// swift-crypto's AES-GCM: BoringSSL's context with the expanded key, about 600 bytes.
    case cipher

    fileprivate var sizes: StrideThrough<Int> {
        switch self {
        case .derivation: stride(from: 16, through: 256, by: 16)
        case .cipher: stride(from: 528, through: 720, by: 16)
        }
    }

    fileprivate var blocks: Int {
        switch self {
        case .derivation: 8
        case .cipher: 4
        }
    }
}

/// Overwrites heap blocks that this thread has just freed.
///
/// Call it after a library computed with a key in its own memory and freed that memory without wiping it. The allocator
/// returns the most recently freed block of a size first (malloc's per-thread cache). Allocating a few blocks of each
/// size therefore returns the blocks that held the key.
package func wipeRecentlyFreed(_ remains: KeyRemains) {
    let sizes = remains.sizes
    let capacity = remains.blocks * 16
    withUnsafeTemporaryAllocation(of: UnsafeMutableRawPointer?.self, capacity: capacity) { blocks in
        var count = 0
        for size in sizes {
            for _ in 0..<remains.blocks where count < capacity {
                // glibc's usable block sizes are 16n + 8 bytes.
                let block = malloc(size - 8)
                if let block { explicit_bzero(block, size - 8) }
                blocks.initializeElement(at: count, to: block)
                count += 1
            }
        }
        for index in (0..<count).reversed() { free(blocks[index]) }
    }
}
