import Bytes
import Crypto
import FoundationEssentials

/// The key for AES-256-GCM tags over public bytes, without plaintext.
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
        guard let box = try? entry.box([UInt8]()) else { return false }
        return (try? AES.GCM.open(box, using: key, authenticating: bytes)) != nil
    }
}

/// The keys that are derived from a file's key.
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
