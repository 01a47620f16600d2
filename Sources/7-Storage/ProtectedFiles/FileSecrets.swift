import Bytes
import Crypto
import FoundationEssentials
import PreparedKeys

/// The key for AES-256-GCM tags over public bytes, without plaintext.
struct BlockAuthenticator {
    private let key: PreparedAEAD

    init(key: SymmetricKey) { self.key = PreparedAEAD(.aesGCM, key) }

    func entry(for bytes: some ContiguousBytes) throws(SealedFileError) -> IndexEntry {
        let entry = IndexEntry.make { nonce, tag in
            bytes.withUnsafeBytes { bytes in
                let binding = bytes.baseAddress ?? UnsafeRawPointer(tag)
                // There is no text, so that neither address of it is looked at.
                return key.seal(
                    tag, count: 0, nonce: nonce, binding: binding, bindingCount: bytes.count, into: tag, tag: tag)
            }
        }
        guard let entry else { throw .memoryUnavailable }
        return entry
    }

    func verifies(_ entry: IndexEntry, for bytes: some ContiguousBytes) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { room in
            // Memory of one byte always has an address.
            let nothing = room.baseAddress!
            return entry.withBytes { nonce, tag in
                bytes.withUnsafeBytes { bytes in
                    key.open(
                        nothing, count: 0, nonce: nonce, binding: bytes.baseAddress ?? UnsafeRawPointer(nothing),
                        bindingCount: bytes.count, tag: tag, into: nothing)
                }
            }
        }
    }
}

/// The keys that are derived from a file's key. For one thread at a time.
final class FileSecrets {
    let chunks: ChunkCipher
    let header: BlockAuthenticator
    /// Short files have no index, and new files no journal.
    private(set) lazy var index = BlockAuthenticator(key: indexKey)
    private(set) lazy var journal = BlockAuthenticator(key: journalKey)
    private let file: [UInt8]
    private let indexKey: SymmetricKey
    private let journalKey: SymmetricKey

    init(_ key: SecretBytes, file: [UInt8]) {
        self.file = file
        indexKey = Self.derive("index", from: key, file)
        journalKey = Self.derive("journal", from: key, file)
        chunks = ChunkCipher(key: Self.derive("data", from: key, file), file: file)
        header = BlockAuthenticator(key: Self.derive("header", from: key, file))
    }

    private static func derive(_ purpose: String, from key: SecretBytes, _ file: [UInt8]) -> SymmetricKey {
        key.withUnsafeBytes {
            KeyDerivation.key(from: $0, salt: file, info: Array("swift-keychain/v1/file/\(purpose)".utf8))
        }
    }

    private func binding(_ position: IndexPosition, _ block: [UInt8]) -> [UInt8] {
        var binding: [UInt8] = []
        binding.reserveCapacity(30 + block.count)
        binding.append(contentsOf: "index".utf8)
        binding.append(contentsOf: file)
        binding.append(UInt8(truncatingIfNeeded: position.level))
        binding.append(bigEndian: position.number)
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
