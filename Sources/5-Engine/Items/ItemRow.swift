import Bytes
import FoundationEssentials
import KeychainModel
import Sealing
import SystemSQLite

/// One row of the item table: the fields that are readable without a key, and the sealed parts.
package struct ItemRow: Sendable, Hashable {
    package var binding: RowBinding
    /// The sealed attributes.
    package var metadata: Data
    package var value: SealedValue
    /// The number of the change that made the row what it is. The store sets it when it writes the row.
    package var change: Int64 = 0

    package init(binding: RowBinding, metadata: Data, value: SealedValue) {
        self.binding = binding
        self.metadata = metadata
        self.value = value
    }

    /// How many bytes the row takes in the file, with its entries in the indexes.
    var size: Int { sizeWithoutValue + value.seal.count + (value.ciphertext?.count ?? 0) }

    var sizeWithoutValue: Int { Self.fixedSize + Self.sizePerTermByte * binding.terms.count * 8 + metadata.count }

    /// What the other columns and the indexes take: 133 bytes of a row with 6 terms with the index of the primary keys,
    /// and 28 for version, change and the index of the changes. That is measured with SQLite's `dbstat`, in a store of
    /// 1,000 passwords. A term takes less than ``sizePerTermByte`` says, which makes up for the difference.
    private static let fixedSize = 156
    /// A term of 8 bytes takes 8 in the row and up to 28 in the table of terms.
    private static let sizePerTermByte = 4

    /// The same sizes as SQL.
    static let sqlSizeWithoutValue = "\(fixedSize) + \(sizePerTermByte) * length(terms) + length(meta)"
    static let sqlSizeOfValue = "length(seal) + length(data)"

    /// The columns of a table of rows, in the order in which they are read.
    static func columns(of table: String) -> String {
        "\(table).id, class, pk, uuid, \(table).grp, pdmn, flags, version, change, terms, meta, seal, data"
    }
    /// The number of those.
    static let columnCount: Int32 = 13

    /// Reads the fields of the present row of a statement that decide whether it is needed.
    static func binding(_ row: SQLStatement) throws(StoreError) -> RowBinding {
        guard let id = row.integer(0) else { throw .corrupt(reason: "a row has no number") }
        guard let code = row.integer(1).flatMap(UInt8.init(exactly:)), let itemClass = ItemClass(storedCode: code),
            itemClass != .identity
        else { throw .malformedRow(id: id, reason: "class") }
        guard let primaryKey = row.blob(2), primaryKey.count == 16 else {
            throw .malformedRow(id: id, reason: "primary key")
        }
        guard let identifier = row.withBlob(3, { UUID(bytes: $0) }), let identifier else {
            throw .malformedRow(id: id, reason: "identifier")
        }
        guard let group = row.integer(4) else { throw .malformedRow(id: id, reason: "group") }
        guard let protectionCode = row.integer(5).flatMap(UInt8.init(exactly:)),
            let protection = ProtectionClass(storedCode: protectionCode)
        else { throw .malformedRow(id: id, reason: "protection class") }
        guard let flags = row.integer(6), flags & ~3 == 0 else { throw .malformedRow(id: id, reason: "flags") }
        guard let version = row.integer(7), version >= 0 else { throw .malformedRow(id: id, reason: "version") }
        guard let terms = row.withBlob(9, { Self.terms(in: $0) }), let terms else {
            throw .malformedRow(id: id, reason: "terms")
        }
        return RowBinding(
            rowID: id, identifier: identifier, itemClass: itemClass, protection: protection,
            isSynchronizable: flags & 1 != 0, isTombstone: flags & 2 != 0, group: group, primaryKey: primaryKey,
            terms: terms, version: version)
    }

    /// Returns the number of bytes of the sealed value in the present row of a statement.
    static func ciphertextSize(_ row: SQLStatement) -> Int { row.withBlob(12) { $0.count } ?? 0 }

    /// Reads the present row of a statement, whose readable fields are `binding`.
    init(_ row: SQLStatement, binding: RowBinding, includingCiphertext: Bool) throws(StoreError) {
        guard let change = row.integer(8) else { throw .malformedRow(id: binding.rowID, reason: "change") }
        guard let metadata = row.blob(10) else { throw .malformedRow(id: binding.rowID, reason: "attributes") }
        guard let seal = row.blob(11) else { throw .malformedRow(id: binding.rowID, reason: "value seal") }
        do {
            _ = try SealedValue.header(of: seal)
        } catch {
            throw .malformedRow(id: binding.rowID, reason: "value seal")
        }
        value = SealedValue(seal: seal, ciphertext: includingCiphertext ? row.blob(12) : nil)
        if includingCiphertext, value.ciphertext == nil {
            throw .malformedRow(id: binding.rowID, reason: "value")
        }
        self.binding = binding
        self.metadata = metadata
        self.change = change
    }

    private static func terms(in bytes: UnsafeRawBufferPointer) -> [Int64]? {
        guard bytes.count.isMultiple(of: 8) else { return nil }
        return (0..<(bytes.count / 8)).map { bytes.bigEndian(at: $0 * 8) }
    }

    var encodedTerms: Data {
        var terms = Data(capacity: binding.terms.count * 8)
        for term in binding.terms { terms.append(bigEndian: term) }
        return terms
    }

    /// Runs `statement` with this row's columns as parameters, in the order of ``columns(of:)``.
    ///
    /// - Parameter change: The number of the change that writes the row.
    func run(_ statement: SQLStatement, change: Int64) throws {
        let flags: Int64 = (binding.isSynchronizable ? 1 : 0) | (binding.isTombstone ? 2 : 0)
        try statement.bind(binding.rowID, at: 1)
        try statement.bind(Int64(binding.itemClass.storedCode), at: 2)
        try statement.bind(binding.primaryKey, at: 3)
        try statement.bind(binding.identifier.bytes, at: 4)
        try statement.bind(binding.group, at: 5)
        try statement.bind(Int64(binding.protection.storedCode), at: 6)
        try statement.bind(flags, at: 7)
        try statement.bind(binding.version, at: 8)
        try statement.bind(change, at: 9)
        try statement.bind(encodedTerms, at: 10)
        try statement.bind(metadata, at: 11)
        try statement.bind(value.seal, at: 12)
        // Not copied, because it can be large.
        try (value.ciphertext ?? Data()).withUnsafeBytes { bytes in
            try statement.lending(bytes, at: 13) { try statement.run() }
        }
    }
}

extension UUID {
    var bytes: Data { withUnsafeBytes(of: uuid) { Data($0) } }

    /// The term for finding an item by its identifier. Identifiers are random, so their first eight bytes are used
    /// directly.
    package var term: Int64 {
        withUnsafeBytes(of: uuid) { $0.bigEndian() }
    }

    /// Reads an identifier; nil unless there are exactly sixteen bytes.
    init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16 else { return nil }
        self.init(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
}

extension SQLStatement {
    /// Binds a copy of `bytes`.
    func bind(_ bytes: Data, at index: Int32) throws {
        try bytes.withUnsafeBytes { try bind($0, at: index) }
    }

    /// Returns a copy of the blob in a column; nil for another type.
    func blob(_ column: Int32) -> Data? {
        withBlob(column) { Data($0) }
    }
}
