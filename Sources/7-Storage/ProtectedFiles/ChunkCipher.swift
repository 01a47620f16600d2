import Bytes
import Crypto
import PreparedKeys

/// AES-256-GCM over the chunks of one file, for any number of threads.
struct ChunkCipher: Sendable {
    private let key: PreparedAEAD
    private let file: [UInt8]

    /// - Parameter preparing: False for swift-crypto's own interface, which otherwise is used where no key can be
    ///   prepared.
    init(key: SymmetricKey, file: [UInt8], preparing: Bool = true) {
        self.key = PreparedAEAD(.aesGCM, key, preparing: preparing)
        self.file = file
    }

    /// Returns the additional data of a chunk.
    private func binding(_ chunk: UInt64, _ count: Int) -> [UInt8] {
        var binding: [UInt8] = []
        binding.reserveCapacity(33)
        binding.append(contentsOf: "chunk".utf8)
        binding.append(contentsOf: file)
        binding.append(bigEndian: chunk)
        binding.append(bigEndian: UInt32(truncatingIfNeeded: count))
        return binding
    }

    /// Seals a chunk.
    ///
    /// - Parameter sealed: Separate room for as many bytes as `plaintext` has.
    func seal(
        _ plaintext: UnsafeRawBufferPointer, chunk: UInt64, into sealed: UnsafeMutableRawBufferPointer
    ) throws(SealedFileError) -> IndexEntry {
        let binding = binding(chunk, plaintext.count)
        let entry = IndexEntry.make { nonce, tag in
            // A chunk without bytes may have no address, and none is looked at.
            key.seal(
                plaintext.baseAddress ?? nonce, count: plaintext.count, nonce: nonce, binding: binding,
                bindingCount: binding.count, into: sealed.baseAddress ?? tag, tag: tag)
        }
        guard let entry else { throw .memoryUnavailable }
        return entry
    }

    /// Opens a chunk in place. Returns false if it was changed; the contents of `bytes` must not be used then.
    func open(_ bytes: UnsafeMutableRawBufferPointer, chunk: UInt64, entry: IndexEntry) -> Bool {
        let binding = binding(chunk, bytes.count)
        return entry.withBytes { nonce, tag in
            let base = bytes.baseAddress ?? UnsafeMutableRawPointer(mutating: tag)
            return key.open(
                base, count: bytes.count, nonce: nonce, binding: binding, bindingCount: binding.count, tag: tag,
                into: base)
        }
    }
}
