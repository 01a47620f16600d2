import Bytes
import FoundationEssentials
import KeychainModel

/// The first block of a protected file.
///
/// The first 512 bytes hold everything that is needed to find the key. Disks write them as one.
struct FileHeader {
    private enum Offset {
        static let version = NumberField<UInt16>(at: 8)
        static let kind = 10
        static let flags = 11
        static let file = 12
        static let wrappedCount = NumberField<UInt16>(at: 28)
        static let wrapped = 30
        static let length = NumberField<UInt64>(at: 158)
        static let generation = NumberField<UInt64>(at: 166)
        static let seals = NumberField<UInt64>(at: 174)
        static let top = 182
        static let table = 480
        static let seal = 4068
    }

    static let magic = Array("SKPFILE\0".utf8)
    static let version: UInt16 = 1
    static let wrappedLimit = 128
    /// SP 800-38D, section 8.3, for random nonces.
    static let sealLimit: UInt64 = 1 << 32

    private(set) var block: [UInt8]

    /// Makes the header of a file without data.
    init(kind: FileKeyKind, file: [UInt8], wrapped: Data) {
        block = [UInt8](repeating: 0, count: FileLayout.blockSize)
        block.replaceSubrange(0..<Self.magic.count, with: Self.magic)
        block[Offset.version] = Self.version
        block.replaceSubrange(Offset.file..<(Offset.file + file.count), with: file)
        self.kind = kind
        self.wrapped = wrapped
    }

    /// Reads a block and checks only its form.
    init(_ bytes: [UInt8], path: String) throws(SealedFileError) {
        guard bytes.starts(with: Self.magic) else { throw .notProtected(path: path) }
        guard bytes.count == FileLayout.blockSize else { throw .truncated(path: path) }
        let version = bytes[Offset.version]
        guard version == Self.version, bytes[Offset.flags] == 0 else {
            throw .unsupportedVersion(path: path, version: version)
        }
        block = bytes
        guard FileKeyKind(rawValue: bytes[Offset.kind]) != nil,
            bytes[Offset.wrappedCount] <= Self.wrappedLimit,
            length <= FileLayout.maximumLength
        else { throw .damaged(path: path, part: .header) }
    }

    var kind: FileKeyKind {
        // Both initialisers make sure that the kind is valid.
        get { FileKeyKind(rawValue: block[Offset.kind]) ?? .vault(.complete) }
        set { block[Offset.kind] = newValue.rawValue }
    }

    /// Returns the class of a file whose key a vault wrapped.
    func fileClass(_ path: String) throws(SealedFileError) -> FileProtectionClass {
        guard case .vault(let fileClass) = kind else { throw .encryptedWithPassword(path: path) }
        return fileClass
    }

    /// The file's unique identifier of 16 bytes.
    var file: [UInt8] { Array(block[Offset.file..<Offset.wrappedCount.offset]) }

    var wrapped: Data {
        get {
            let count = Int(block[Offset.wrappedCount])
            return Data(block[Offset.wrapped..<(Offset.wrapped + count)])
        }
        set {
            let padding = [UInt8](repeating: 0, count: max(0, Self.wrappedLimit - newValue.count))
            block[Offset.wrappedCount] = UInt16(truncatingIfNeeded: newValue.count)
            block.replaceSubrange(
                Offset.wrapped..<Offset.length.offset, with: newValue.prefix(Self.wrappedLimit) + padding)
        }
    }

    var length: UInt64 {
        get { block[Offset.length] }
        set { block[Offset.length] = newValue }
    }

    /// Increases by one with each change.
    var generation: UInt64 {
        get { block[Offset.generation] }
        set { block[Offset.generation] = newValue }
    }

    /// The number of seals that the file's keys have made.
    var seals: UInt64 {
        get { block[Offset.seals] }
        set { block[Offset.seals] = newValue }
    }

    /// The entry of the topmost index block; a hole if there is none.
    var top: IndexEntry {
        get { IndexEntry(block, at: Offset.top) }
        set { newValue.store(in: &block, at: Offset.top) }
    }

    /// The entries of the first chunks.
    subscript(slot: Int) -> IndexEntry {
        get { IndexEntry(block, at: Offset.table + slot * IndexEntry.byteCount) }
        set { newValue.store(in: &block, at: Offset.table + slot * IndexEntry.byteCount) }
    }

    /// The nonce and tag of the header itself.
    var seal: IndexEntry { IndexEntry(block, at: Offset.seal) }
    static let sealOffset = UInt64(clamping: Offset.seal)

    mutating func seal(_ secrets: FileSecrets) throws(SealedFileError) {
        try secrets.header.entry(for: block[..<Offset.seal]).store(in: &block, at: Offset.seal)
    }

    func verifies(_ secrets: FileSecrets) -> Bool {
        secrets.header.verifies(seal, for: block[..<Offset.seal])
    }
}
