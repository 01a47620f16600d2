import Bytes
import CSQLite
import Crypto
import DatabaseVFS
import Enclave
import Foundation
import Keybag
import KeychainModel
import Sealing
import VaultInterface

/// The least that finding an item can cost: its row read by a prepared statement straight from SQLite,
/// and the three AEAD operations that open it, with everything else made ready beforehand.
///
/// The search key is known and what is opened is thrown away, so no API on top can be as fast.
final class RawStore {
    private(set) var database: OpaquePointer?
    private var select: OpaquePointer?
    private var listing: OpaquePointer?
    private let classKey: SymmetricKey
    private let metadataKey: SymmetricKey
    private let file: RawFile
    private let primaryKeys: [[UInt8]]
    private var context: [UInt8] = []

    struct Failure: Error {
        var reason: String
    }

    init(vault path: String) throws {
        let enclave = try SoftwareEnclave(decoding: Data(contentsOf: URL(fileURLWithPath: path + "/device-secret")))
        let keybag = try Keybag(decoding: Data(contentsOf: URL(fileURLWithPath: path + "/keybag")), in: enclave)
        let keys = try ClassKeys(keybag, in: enclave)
        file = try RawFile(vault: path)
        classKey = try keys.classKey(for: ItemClass.genericPassword.defaultProtection)
        metadataKey = try keys.metadataKey(for: ItemClass.genericPassword.defaultProtection)

        let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI
        guard sqlite3_open_v2(file.registration.uri, &database, flags, nil) == SQLITE_OK else {
            throw Failure(reason: "the item store does not open")
        }
        let pragmas = "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA cache_size = -8192"
        guard sqlite3_exec(database, pragmas, nil, nil, nil) == SQLITE_OK else { throw Failure(reason: "pragmas") }

        var list: OpaquePointer?
        defer { sqlite3_finalize(list) }
        guard sqlite3_prepare_v2(database, "SELECT pk FROM item", -1, &list, nil) == SQLITE_OK else {
            throw Failure(reason: "list")
        }
        var found: [[UInt8]] = []
        while sqlite3_step(list) == SQLITE_ROW { found.append(Array(Self.blob(list, 0))) }
        primaryKeys = found
        let columns = "SELECT id, class, uuid, grp, pdmn, flags, terms, meta, seal, data, pk, version FROM item"
        guard sqlite3_prepare_v2(database, columns + " WHERE pk = ?", -1, &select, nil) == SQLITE_OK,
            sqlite3_prepare_v2(database, columns + " ORDER BY id", -1, &listing, nil) == SQLITE_OK
        else { throw Failure(reason: "the select does not compile") }
    }

    deinit {
        sqlite3_finalize(select)
        sqlite3_finalize(listing)
        sqlite3_close(database)
    }

    /// Reads a random row and, if `opening`, opens both its halves.
    func find(_ random: inout FastRandom, opening: Bool) throws {
        let key = primaryKeys[Int.random(in: 0..<primaryKeys.count, using: &random)]
        defer { sqlite3_reset(select) }
        try key.withUnsafeBytes { key in
            sqlite3_bind_blob(select, 1, key.baseAddress, Int32(clamping: key.count), nil)
            guard sqlite3_step(select) == SQLITE_ROW else { throw Failure(reason: "no row") }
            guard opening else { return }
            let size = try openAttributes(select) + openValue(select)
            guard size > 32 else { throw Failure(reason: "empty row") }
        }
    }

    /// Reads every row and opens its attributes and, if wanted, its value.
    ///
    /// - Returns: The number of rows.
    func list(values: Bool) throws -> Int {
        defer { sqlite3_reset(listing) }
        var count = 0
        while sqlite3_step(listing) == SQLITE_ROW {
            let size = try openAttributes(listing) + (values ? openValue(listing) : 0)
            guard size > 0 else { throw Failure(reason: "empty row") }
            count += 1
        }
        return count
    }

    private func openAttributes(_ row: OpaquePointer?) throws -> Int {
        let metadata = Self.blob(row, 7)
        let terms = Self.blob(row, 6)
        begin("attrs", RowBinding.versionedFormat, row)
        append(sqlite3_column_int64(row, 11))
        let flags = sqlite3_column_int64(row, 5)
        context.append(UInt8(truncatingIfNeeded: flags & 1))
        context.append(UInt8(truncatingIfNeeded: flags >> 1))
        context.append(contentsOf: Self.blob(row, 10))
        append(UInt32(truncatingIfNeeded: terms.count / 8))
        context.append(contentsOf: terms)
        context.append(contentsOf: Self.blob(row, 8))
        let box = try AES.GCM.SealedBox(
            nonce: AES.GCM.Nonce(data: Self.slice(metadata, 0, 12)),
            ciphertext: Self.slice(metadata, 12, metadata.count - 16),
            tag: Self.slice(metadata, metadata.count - 16, metadata.count))
        return try AES.GCM.open(box, using: metadataKey, authenticating: context).count
    }

    private func openValue(_ row: OpaquePointer?) throws -> Int {
        let seal = Self.blob(row, 8)
        begin("value", RowBinding.formatVersion, row)
        context.append(0)
        append(UInt64(0))
        let itemKey = try AES.KeyWrap.unwrap(Self.slice(seal, 0, 40), using: classKey)
        let box = try AES.GCM.SealedBox(
            nonce: AES.GCM.Nonce(data: Self.slice(seal, 40, 52)), ciphertext: Self.blob(row, 9),
            tag: Self.slice(seal, 52, seal.count))
        return try AES.GCM.open(box, using: itemKey, authenticating: context).count
    }

    /// The start of the additional data that both halves of an item share.
    private func begin(_ kind: StaticString, _ format: UInt8, _ row: OpaquePointer?) {
        context.removeAll(keepingCapacity: true)
        kind.withUTF8Buffer { context.append(contentsOf: $0) }
        context.append(format)
        context.append(UInt8(truncatingIfNeeded: sqlite3_column_int64(row, 1)))
        context.append(UInt8(truncatingIfNeeded: sqlite3_column_int64(row, 4)))
        append(sqlite3_column_int64(row, 0))
        context.append(contentsOf: Self.blob(row, 2))
        append(sqlite3_column_int64(row, 3))
    }

    private func append(_ integer: some FixedWidthInteger) {
        withUnsafeBytes(of: integer.bigEndian) { context.append(contentsOf: $0) }
    }

    private static func slice(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ end: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }

    private static func blob(_ statement: OpaquePointer?, _ column: Int32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: sqlite3_column_blob(statement, column), count: Int(sqlite3_column_bytes(statement, column)))
    }
}
