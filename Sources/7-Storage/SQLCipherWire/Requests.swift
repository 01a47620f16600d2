import Bytes
import Frames

/// The first frame of the client: the versions that it supports.
package struct HelperHello: Equatable, Sendable {
    package var lowest: UInt16
    package var highest: UInt16

    package init(lowest: UInt16 = FrameProtocol.version, highest: UInt16 = FrameProtocol.version) {
        self.lowest = lowest
        self.highest = highest
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.append(FrameProtocol.magic)
        buffer.append(lowest)
        buffer.append(highest)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        guard try reader.integer(UInt32.self) == FrameProtocol.magic else { throw FrameError("not this protocol") }
        lowest = try reader.integer()
        highest = try reader.integer()
        guard lowest <= highest else { throw FrameError("no version") }
        // A later version may have more fields in its greeting. They are ignored.
    }
}

/// The key that encrypts a database's pages.
package struct CipherKey: Sendable, Equatable {
    package enum Kind: UInt8, Sendable {
        /// 32 bytes that are the key itself.
        case raw = 0
        /// A text from which the library derives the key.
        case passphrase = 1
    }

    package let kind: Kind
    package let bytes: SecretBytes

    package init(_ kind: Kind, _ bytes: SecretBytes) {
        self.kind = kind
        self.bytes = bytes
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.append(kind.rawValue)
        buffer.append(bytes)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        guard let kind = Kind(rawValue: try reader.integer()) else { throw FrameError("an unknown kind of key") }
        self.kind = kind
        bytes = try reader.secret()
        guard kind == .raw ? bytes.count == 32 : bytes.count > 0 else {
            throw FrameError("a key cannot have this size")
        }
    }
}

/// The SQLCipher version whose file format a file has: version 3 or 4.
package enum CipherCompatibility: UInt8, Sendable, CaseIterable {
    case three = 3
    case four = 4
}

package struct OpenRequest: Sendable, Equatable {
    package enum Mode: UInt8, Sendable, CaseIterable {
        case reading = 0
        case writing = 1
        /// The file must not exist.
        case creating = 2
    }

    package var path: String
    package var mode: Mode
    package var key: CipherKey
    /// Nil for the newest format of the library.
    package var compatibility: CipherCompatibility?
    /// The page sizes to try, in order. A new file uses only the first.
    package var pageSizes: [UInt32]
    /// The size of SQLite's page cache in KiB.
    package var cacheSize: UInt32
    /// The time to wait for other users of the file, in milliseconds.
    package var busyTimeout: UInt32

    package init(
        path: String, mode: Mode, key: CipherKey, compatibility: CipherCompatibility?, pageSizes: [UInt32],
        cacheSize: UInt32, busyTimeout: UInt32
    ) {
        self.path = path
        self.mode = mode
        self.key = key
        self.compatibility = compatibility
        self.pageSizes = pageSizes
        self.cacheSize = cacheSize
        self.busyTimeout = busyTimeout
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.append(path)
        buffer.append(mode.rawValue)
        key.encode(to: buffer)
        buffer.append(compatibility?.rawValue ?? 0)
        buffer.append(UInt32(truncatingIfNeeded: pageSizes.count))
        for size in pageSizes { buffer.append(size) }
        buffer.append(cacheSize)
        buffer.append(busyTimeout)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        path = try reader.string()
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw FrameError("the path of a database is not absolute")
        }
        guard let mode = Mode(rawValue: try reader.integer()) else { throw FrameError("an unknown way of opening") }
        self.mode = mode
        key = try CipherKey(from: &reader)
        let compatibility = try reader.integer(UInt8.self)
        self.compatibility = CipherCompatibility(rawValue: compatibility)
        guard compatibility == 0 || self.compatibility != nil else { throw FrameError("an unknown format") }
        var sizes: [UInt32] = []
        for _ in 0..<(try reader.count(limit: FrameLimits.pageSizes)) {
            let size = try reader.integer(UInt32.self)
            guard size >= 512, size <= 65_536, size.nonzeroBitCount == 1 else {
                throw FrameError("an invalid page size")
            }
            sizes.append(size)
        }
        guard !sizes.isEmpty else { throw FrameError("no page size") }
        pageSizes = sizes
        cacheSize = try reader.integer()
        busyTimeout = try reader.integer()
        guard cacheSize <= 1 << 26, busyTimeout <= 1 << 24 else { throw FrameError("a setting is out of bounds") }
        try reader.finish()
    }
}

/// One statement with its values.
package struct QueryRequest: Sendable, Equatable {
    package var sql: String
    package var bindings: [SQLValue]

    package init(sql: String, bindings: [SQLValue]) {
        self.sql = sql
        self.bindings = bindings
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.append(sql)
        buffer.append(UInt32(truncatingIfNeeded: bindings.count))
        for value in bindings { buffer.append(value) }
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        sql = try reader.string(limit: FrameLimits.value)
        bindings = try reader.values()
        try reader.finish()
    }
}

/// One statement that runs for each of many rows.
package struct BatchRequest: Sendable, Equatable {
    package var sql: String
    package var rows: RowBatch

    package init(sql: String, rows: RowBatch) {
        self.sql = sql
        self.rows = rows
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.append(sql)
        rows.encode(to: buffer)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        sql = try reader.string(limit: FrameLimits.value)
        rows = try RowBatch(from: &reader)
        try reader.finish()
    }
}
