import Glibc

/// The sizes of blocks in which a library leaves keys when it gives them back as they are.
package enum KeyRemains {
    /// swift-crypto's HKDF: keys, blocks of a hash, and the objects around them.
    case derivation
    /// swift-crypto's AES-GCM: BoringSSL's context with the expanded key, some 600 bytes.
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

/// Overwrites blocks of memory that this thread has just given back.
///
/// To be called after a library computed with a key in memory of its own and freed it as it was. The allocator
/// hands out the block of a size that was freed last first (malloc's per-thread cache), so that a few blocks of
/// each size are the ones that held the key.
package func wipeRecentlyFreed(_ remains: KeyRemains) {
    let sizes = remains.sizes
    let capacity = remains.blocks * 16
    withUnsafeTemporaryAllocation(of: UnsafeMutableRawPointer?.self, capacity: capacity) { blocks in
        var count = 0
        for size in sizes {
            for _ in 0..<remains.blocks where count < capacity {
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
