import Crypto
import Foundation
import KeychainModel

/// AES-256-GCM over chunks under the data key, and over the bare additional data elsewhere.
///
/// swift-crypto opens and seals 64 KiB faster than OpenSSL 3.0 although it wants memory of its own for the result. What it is
/// given is kept from call to call.
struct ChunkCipher {
    /// Before and after a chunk in the form swift-crypto opens.
    static let nonceSize = 12
    static let tagSize = 16

    private let key: SymmetricKey
    private let file: [UInt8]

    init(key: SymmetricKey, file: [UInt8]) {
        (self.key, self.file) = (key, file)
    }

    private func binding(_ chunk: UInt64, _ count: Int) -> [UInt8] {
        var binding = [UInt8]()
        binding.reserveCapacity(33)
        binding.append(contentsOf: "chunk".utf8)
        binding.append(contentsOf: file)
        binding.append(chunk)
        binding.append(UInt32(truncatingIfNeeded: count))
        return binding
    }

    /// The ciphertext is as long as `plaintext`.
    func seal(
        _ plaintext: UnsafeRawBufferPointer, chunk: UInt64
    ) throws(SealedFileError) -> (ciphertext: Data, entry: IndexEntry) {
        let message = plaintext.bindMemory(to: UInt8.self)
        do {
            let box = try AES.GCM.seal(message, using: key, authenticating: binding(chunk, plaintext.count))
            return (box.ciphertext, IndexEntry(box))
        } catch {
            throw .memoryUnavailable
        }
    }

    /// The data of a chunk, or nil if it is not what was written.
    ///
    /// - Parameter sealed: Room for the nonce, the ciphertext, room for the tag.
    func open(_ sealed: UnsafeMutableRawBufferPointer, chunk: UInt64, entry: IndexEntry) -> Data? {
        guard let base = sealed.baseAddress else { return nil }
        entry.storeNonce(in: sealed, at: 0)
        entry.storeTag(in: sealed, at: sealed.count - Self.tagSize)
        let combined = Data(bytesNoCopy: base, count: sealed.count, deallocator: .none)
        guard let box = try? AES.GCM.SealedBox(combined: combined) else { return nil }
        let count = sealed.count - Self.nonceSize - Self.tagSize
        return try? AES.GCM.open(box, using: key, authenticating: binding(chunk, count))
    }
}

/// AES-256-GCM without plaintext: a tag over public bytes.
struct BlockAuthenticator {
    let key: SymmetricKey

    func entry(for bytes: some DataProtocol) throws(SealedFileError) -> IndexEntry {
        do {
            return IndexEntry(try AES.GCM.seal([UInt8](), using: key, authenticating: bytes))
        } catch {
            throw .memoryUnavailable
        }
    }

    func verifies(_ entry: IndexEntry, for bytes: some DataProtocol) -> Bool {
        var combined = [UInt8](repeating: 0, count: IndexEntry.byteCount)
        entry.store(in: &combined, at: 0)
        guard let box = try? AES.GCM.SealedBox(combined: combined) else { return false }
        return (try? AES.GCM.open(box, using: key, authenticating: bytes)) != nil
    }
}

/// The keys that follow from a file's key.
struct FileSecrets {
    let chunks: ChunkCipher
    let index: BlockAuthenticator
    let header: BlockAuthenticator
    let journal: BlockAuthenticator
    private let file: [UInt8]

    init(_ key: SecretBytes, file: [UInt8]) {
        let material = key.withUnsafeBytes { SymmetricKey(data: $0) }
        func derived(_ purpose: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: material, salt: file, info: Data("swift-keychain/v1/file/\(purpose)".utf8),
                outputByteCount: 32)
        }
        self.file = file
        chunks = ChunkCipher(key: derived("data"), file: file)
        index = BlockAuthenticator(key: derived("index"))
        header = BlockAuthenticator(key: derived("header"))
        journal = BlockAuthenticator(key: derived("journal"))
    }

    private func binding(_ position: IndexPosition, _ block: [UInt8]) -> [UInt8] {
        var binding = [UInt8]()
        binding.reserveCapacity(30 + block.count)
        binding.append(contentsOf: "index".utf8)
        binding.append(contentsOf: file)
        binding.append(UInt8(position.level))
        binding.append(position.number)
        binding.append(contentsOf: block)
        return binding
    }

    func entry(for block: [UInt8], at position: IndexPosition) throws(SealedFileError) -> IndexEntry {
        try index.entry(for: binding(position, block))
    }

    func verifies(_ entry: IndexEntry, for block: [UInt8], at position: IndexPosition) -> Bool {
        index.verifies(entry, for: binding(position, block))
    }
}
