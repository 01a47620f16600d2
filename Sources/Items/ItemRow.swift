import Foundation
import GRDB
import KeychainModel
import Sealing

/// One row of the item table: what is readable without a key, and the sealed parts.
package struct ItemRow: Sendable, Hashable {
    package var binding: RowBinding
    /// The sealed attributes.
    package var metadata: Data
    /// The value's seal; empty for an item without a value.
    package var valueSeal: Data
    /// The value's ciphertext; nil when it was not read.
    package var ciphertext: Data?

    package init(binding: RowBinding, metadata: Data, valueSeal: Data, ciphertext: Data?) {
        self.binding = binding
        self.metadata = metadata
        self.valueSeal = valueSeal
        self.ciphertext = ciphertext
    }

    /// The value as it was sealed; nil when there is none or it was not read.
    package var sealedValue: SealedValue? {
        guard !valueSeal.isEmpty, let ciphertext else { return nil }
        return SealedValue(seal: valueSeal, ciphertext: ciphertext)
    }

    static let columns = "item.id, class, pk, uuid, grp, pdmn, flags, terms, meta, seal, data"

    /// The row under a cursor.
    ///
    /// Nothing is taken on trust: SQLite columns have no fixed type, so a changed file may hold
    /// anything anywhere.
    init(_ row: Row, includingCiphertext: Bool) throws(StoreError) {
        guard case .int64(let id) = Self.storage(row, 0) else { throw .corrupt(reason: "a row has no number") }
        guard case .int64(let classCode) = Self.storage(row, 1), let classByte = UInt8(exactly: classCode),
            let itemClass = ItemClass(storedCode: classByte), itemClass != .identity
        else { throw .malformedRow(id: id, reason: "class") }
        guard case .blob(let primaryKey) = Self.storage(row, 2), primaryKey.count == 16 else {
            throw .malformedRow(id: id, reason: "primary key")
        }
        guard case .blob(let uuid) = Self.storage(row, 3), let identifier = UUID(bytes: uuid) else {
            throw .malformedRow(id: id, reason: "identifier")
        }
        guard case .int64(let group) = Self.storage(row, 4) else { throw .malformedRow(id: id, reason: "group") }
        guard case .int64(let protectionCode) = Self.storage(row, 5),
            let protectionByte = UInt8(exactly: protectionCode),
            let protection = ProtectionClass(storedCode: protectionByte)
        else { throw .malformedRow(id: id, reason: "protection class") }
        guard case .int64(let flags) = Self.storage(row, 6), flags & ~3 == 0 else {
            throw .malformedRow(id: id, reason: "flags")
        }
        guard case .blob(let termBytes) = Self.storage(row, 7), termBytes.count % 8 == 0 else {
            throw .malformedRow(id: id, reason: "terms")
        }
        guard case .blob(let metadata) = Self.storage(row, 8) else { throw .malformedRow(id: id, reason: "attributes") }
        guard case .blob(let seal) = Self.storage(row, 9), seal.isEmpty || seal.count == SealedValue.sealSize else {
            throw .malformedRow(id: id, reason: "value seal")
        }
        if includingCiphertext {
            guard case .blob(let data) = Self.storage(row, 10) else { throw .malformedRow(id: id, reason: "value") }
            ciphertext = data
        } else {
            ciphertext = nil
        }
        self.metadata = metadata
        valueSeal = seal
        binding = RowBinding(
            rowID: id, identifier: identifier, itemClass: itemClass, protection: protection,
            isSynchronizable: flags & 1 != 0, isTombstone: flags & 2 != 0, group: group, primaryKey: primaryKey,
            terms: Self.terms(in: termBytes))
    }

    private static func storage(_ row: Row, _ index: Int) -> DatabaseValue.Storage {
        (row[index] as DatabaseValue).storage
    }

    private static func terms(in bytes: Data) -> [Int64] {
        bytes.withUnsafeBytes { bytes in
            (0..<(bytes.count / 8)).map {
                Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: $0 * 8, as: Int64.self))
            }
        }
    }

    var encodedTerms: Data {
        var terms = Data(capacity: binding.terms.count * 8)
        for term in binding.terms { withUnsafeBytes(of: term.bigEndian) { terms.append(contentsOf: $0) } }
        return terms
    }

    var arguments: StatementArguments {
        let flags = (binding.isSynchronizable ? 1 : 0) | (binding.isTombstone ? 2 : 0)
        return [
            binding.rowID, Int(binding.itemClass.storedCode), binding.primaryKey, binding.identifier.bytes,
            binding.group, Int(binding.protection.storedCode), flags, encodedTerms, metadata, valueSeal,
            ciphertext ?? Data(),
        ]
    }
}

extension UUID {
    var bytes: Data { withUnsafeBytes(of: uuid) { Data($0) } }

    /// The term under which an item is found by its identifier. Identifiers are random, so their first
    /// eight bytes serve as they are.
    package var term: Int64 {
        withUnsafeBytes(of: uuid) { Int64(bigEndian: $0.loadUnaligned(as: Int64.self)) }
    }

    init?(bytes: Data) {
        guard bytes.count == 16 else { return nil }
        var value = UUID().uuid
        withUnsafeMutableBytes(of: &value) { $0.copyBytes(from: bytes) }
        self.init(uuid: value)
    }
}
