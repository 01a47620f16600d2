import Bytes
import Crypto
import FoundationEssentials

/// The seal of the batches in one file of a page index. Each batch is chained to the one before.
///
/// The file begins with `KCPAGES1`, the database's id of 10 bytes, 2 zeros and a salt of 12. A batch is the number of
/// its entries (4 bytes), the same number with all bits inverted (4), the nonce (12), the ciphertext and the tag (16).
/// The additional data are the label `kcdbindx`, the id (10), zeros (2), the number of entries (4) and the tag of the
/// batch before. For the first batch that tag is zeros.
struct IndexSeal {
    static let headerSize = 32
    static let overhead = 36
    static let firstTag = [UInt8](repeating: 0, count: 16)
    /// The size of a batch without entries.
    static let smallestSize = overhead + IndexBatch.fixedSize
    private static let magic = Array("KCPAGES1".utf8)
    private static let label = Array("kcdbindx".utf8)
    private static let countSize = 8

    private let database: DatabaseID
    private let salt: [UInt8]
    /// A different key for each file: compacting begins a new file, so no key seals more batches than one file can
    /// have.
    private let key: SymmetricKey

    /// Makes the seal of a new file.
    init(_ key: SecretBytes, _ database: DatabaseID) {
        self.init(key, database, salt: .random(count: 12))
    }

    /// Makes the seal of a file with this header; nil if it is of another database or not an index.
    init?(_ key: SecretBytes, _ database: DatabaseID, header: [UInt8]) {
        guard header.count == Self.headerSize, header.starts(with: Self.magic + database.bytes + [0, 0]) else {
            return nil
        }
        self.init(key, database, salt: Array(header[20...]))
    }

    private init(_ key: SecretBytes, _ database: DatabaseID, salt: [UInt8]) {
        self.key = key.derived(Array("index".utf8) + salt, database)
        (self.database, self.salt) = (database, salt)
    }

    var header: [UInt8] { Self.magic + database.bytes + [0, 0] + salt }

    static func size(_ count: Int) -> Int { smallestSize + IndexBatch.entrySize * count }

    /// Returns the number of entries of the batch with these first bytes; nil if they do not begin a batch.
    static func count(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard bytes.count >= countSize else { return nil }
        let (count, inverted): (UInt32, UInt32) = (bytes.bigEndian(at: 0), bytes.bigEndian(at: 4))
        return count == ~inverted && count <= IndexBatch.maximumCount ? Int(count) : nil
    }

    private func binding(_ count: Int, _ previous: [UInt8]) -> [UInt8] {
        var binding = Self.label + database.bytes + [0, 0]
        binding.append(bigEndian: UInt32(truncatingIfNeeded: count))
        return binding + previous
    }

    /// - Parameter previous: The tag of the batch before. Changes to the tag of this one.
    func seal(_ batch: IndexBatch, after previous: inout [UInt8]) throws(PageIndexError) -> [UInt8] {
        let count = batch.entries.count
        do {
            let box = try AES.GCM.seal(batch.encoded, using: key, authenticating: binding(count, previous))
            var bytes: [UInt8] = []
            bytes.reserveCapacity(Self.size(count))
            bytes.append(bigEndian: UInt32(truncatingIfNeeded: count))
            bytes.append(bigEndian: ~UInt32(truncatingIfNeeded: count))
            bytes.append(contentsOf: Array(box.nonce))
            bytes.append(contentsOf: box.ciphertext)
            bytes.append(contentsOf: box.tag)
            previous = Array(box.tag)
            return bytes
        } catch {
            throw .memoryUnavailable
        }
    }

    /// - Parameter bytes: A whole batch.
    func open(_ bytes: UnsafeRawBufferPointer, after previous: inout [UInt8]) -> IndexBatch? {
        guard let count = Self.count(bytes), bytes.count == Self.size(count),
            let box = try? AES.GCM.SealedBox(combined: UnsafeRawBufferPointer(rebasing: bytes[Self.countSize...])),
            let opened = try? AES.GCM.open(box, using: key, authenticating: binding(count, previous)),
            let batch = opened.withUnsafeBytes({ IndexBatch(decoding: $0) })
        else { return nil }
        previous = Array(box.tag)
        return batch
    }
}
