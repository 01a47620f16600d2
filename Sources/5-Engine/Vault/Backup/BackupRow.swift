import Bytes
import FoundationEssentials
import Items
import KeychainModel
import Sealing
import VaultInterface

/// The form of a row in a backup. Its sealed parts are those of the store.
///
///     offset  bytes  field (integers big-endian)
///          0      8  number of the row
///          8      1  class
///          9      1  protection class
///         10      1  flags: bit 0 synchronizable, bit 1 tombstone
///         11     16  identifier
///         27      8  group
///         35     16  primary key
///         51     12  lengths of attributes, seal and value, 4 bytes each
///         63      4  number of terms
///         67      8  version of the item, from format version 2 on
///         75    8*n  terms
///        end         attributes, seal, value
struct BackupRow {
    let row: ItemRow

    init(_ row: ItemRow) { self.row = row }

    /// The size of the fields that every version has.
    private static let size = 67
    /// More than the largest value and the largest attributes can have.
    private static let largest = 1 << 25

    var encoded: Data {
        let (binding, value) = (row.binding, row.value.ciphertext ?? Data())
        var encoded = Data(capacity: Self.size + binding.terms.count * 8 + row.metadata.count + value.count + 128)
        encoded.append(bigEndian: binding.rowID)
        encoded.append(binding.itemClass.storedCode)
        encoded.append(binding.protection.storedCode)
        encoded.append((binding.isSynchronizable ? 1 : 0) | (binding.isTombstone ? 2 : 0))
        withUnsafeBytes(of: binding.identifier.uuid) { encoded.append(contentsOf: $0) }
        encoded.append(bigEndian: binding.group)
        encoded.append(binding.primaryKey)
        for part in [row.metadata, row.value.seal, value] {
            encoded.append(bigEndian: UInt32(truncatingIfNeeded: part.count))
        }
        encoded.append(bigEndian: UInt32(truncatingIfNeeded: binding.terms.count))
        encoded.append(bigEndian: binding.version)
        for term in binding.terms { encoded.append(bigEndian: term) }
        for part in [row.metadata, row.value.seal, value] { encoded.append(part) }
        return encoded
    }

    /// - Parameter format: The version of the backup.
    init(_ plaintext: inout BackupPlaintext, format: UInt16) throws {
        let head = [UInt8](try plaintext.read(Self.size))
        func length(_ offset: Int) -> Int { Int(UInt32(bigEndianBytes: head[offset..<(offset + 4)])) }
        let (metadata, seal, value, terms) = (length(51), length(55), length(59), length(63))
        guard metadata + seal + value + 8 * terms <= Self.largest, head[10] & ~3 == 0,
            let itemClass = ItemClass(storedCode: head[8]), itemClass != .identity,
            let protection = ProtectionClass(storedCode: head[9])
        else { throw VaultError.corruptBackup(reason: "it has a row that no vault has") }
        let version = format == 1 ? 0 : Int64(bigEndianBytes: [UInt8](try plaintext.read(8))[...])
        guard version >= 0 else { throw VaultError.corruptBackup(reason: "it has a row that no vault has") }
        let encodedTerms = [UInt8](try plaintext.read(8 * terms))
        row = ItemRow(
            binding: RowBinding(
                rowID: Int64(bigEndianBytes: head[0..<8]),
                identifier: head[11..<27].withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) },
                itemClass: itemClass, protection: protection, isSynchronizable: head[10] & 1 != 0,
                isTombstone: head[10] & 2 != 0, group: Int64(bigEndianBytes: head[27..<35]),
                primaryKey: Data(head[35..<51]),
                terms: (0..<terms).map { Int64(bigEndianBytes: encodedTerms[($0 * 8)..<($0 * 8 + 8)]) },
                version: version),
            metadata: try plaintext.read(metadata),
            value: SealedValue(seal: try plaintext.read(seal), ciphertext: try plaintext.read(value)))
    }
}
