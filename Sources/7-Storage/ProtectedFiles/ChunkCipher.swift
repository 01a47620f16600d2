import Crypto
import FoundationEssentials
import KeychainModel
import PreparedAEAD

/// AES-256-GCM over the chunks of one file, for any number of threads.
struct ChunkCipher: Sendable {
    private let key: SymmetricKey
    /// Nil where ``key`` has to be given to swift-crypto for each chunk, which takes memory of its own for the result.
    private let prepared: PreparedAEAD?
    private let file: [UInt8]

    /// - Parameter preparing: False for swift-crypto's own interface, which otherwise is used where no key can be prepared.
    init(key: SymmetricKey, file: [UInt8], preparing: Bool = true) {
        self.key = key
        self.file = file
        prepared = preparing ? PreparedAEAD(.aesGCM, key) : nil
    }

    /// Returns the additional data of a chunk.
    private func binding(_ chunk: UInt64, _ count: Int) -> [UInt8] {
        var binding = [UInt8]()
        binding.reserveCapacity(33)
        binding.append(contentsOf: "chunk".utf8)
        binding.append(contentsOf: file)
        binding.append(chunk)
        binding.append(UInt32(truncatingIfNeeded: count))
        return binding
    }

    /// Seals a chunk.
    ///
    /// - Parameter sealed: Separate room for as many bytes as `plaintext` has.
    func seal(
        _ plaintext: UnsafeRawBufferPointer, chunk: UInt64, into sealed: UnsafeMutableRawBufferPointer
    ) throws(SealedFileError) -> IndexEntry {
        let binding = binding(chunk, plaintext.count)
        let nonce = AES.GCM.Nonce()
        if let prepared, let text = plaintext.baseAddress, let target = sealed.baseAddress {
            var entry = [UInt8](nonce) + [UInt8](repeating: 0, count: IndexEntry.byteCount - IndexEntry.nonceSize)
            let isSealed = entry.withUnsafeMutableBytes { entry in
                guard let base = entry.baseAddress else { return false }
                return prepared.seal(
                    text, count: plaintext.count, nonce: base, binding: binding, bindingCount: binding.count,
                    into: target, tag: base + IndexEntry.nonceSize)
            }
            guard isSealed else { throw .memoryUnavailable }
            return IndexEntry(entry, at: 0)
        }
        do {
            let message = plaintext.bindMemory(to: UInt8.self)
            let box = try AES.GCM.seal(message, using: key, nonce: nonce, authenticating: binding)
            box.ciphertext.copyBytes(to: sealed)
            return IndexEntry(box)
        } catch {
            throw .memoryUnavailable
        }
    }

    /// Opens a chunk in place. Returns false if it was changed; the contents of `bytes` must not be used then.
    func open(_ bytes: UnsafeMutableRawBufferPointer, chunk: UInt64, entry: IndexEntry) -> Bool {
        let binding = binding(chunk, bytes.count)
        if let prepared, let base = bytes.baseAddress {
            return entry.withBytes { nonce, tag in
                prepared.open(
                    base, count: bytes.count, nonce: nonce, binding: binding, bindingCount: binding.count, tag: tag,
                    into: base)
            }
        }
        guard let box = try? entry.box(UnsafeRawBufferPointer(bytes)),
            var data = try? AES.GCM.open(box, using: key, authenticating: binding), data.count == bytes.count
        else { return false }
        data.withUnsafeMutableBytes {
            bytes.copyMemory(from: UnsafeRawBufferPointer($0))
            SecretBytes.wipe($0)
        }
        return true
    }
}
