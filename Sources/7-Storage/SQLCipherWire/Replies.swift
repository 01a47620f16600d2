import Frames

/// The helper's answer to the greeting.
package struct HelperWelcome: Equatable, Sendable {
    package var version: UInt16
    /// SQLCipher's version, from `PRAGMA cipher_version`.
    package var cipherVersion: String
    /// The version of the SQLite in it.
    package var sqliteVersion: String
    /// The name of the loaded library.
    package var library: String

    package init(version: UInt16, cipherVersion: String, sqliteVersion: String, library: String) {
        self.version = version
        self.cipherVersion = cipherVersion
        self.sqliteVersion = sqliteVersion
        self.library = library
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.append(version)
        buffer.append(cipherVersion)
        buffer.append(sqliteVersion)
        buffer.append(library)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        version = try reader.integer()
        cipherVersion = try reader.string()
        sqliteVersion = try reader.string()
        library = try reader.string()
    }
}

/// The format and page size of an opened database.
package struct Opened: Equatable, Sendable {
    package var compatibility: CipherCompatibility
    package var pageSize: UInt32

    package init(compatibility: CipherCompatibility, pageSize: UInt32) {
        self.compatibility = compatibility
        self.pageSize = pageSize
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.append(compatibility.rawValue)
        buffer.append(pageSize)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        guard let compatibility = CipherCompatibility(rawValue: try reader.integer()) else {
            throw FrameError("an unknown format")
        }
        self.compatibility = compatibility
        pageSize = try reader.integer()
        try reader.finish()
    }
}

/// The result of a request.
package struct RequestResult: Equatable, Sendable {
    /// The rows that the last statement inserted, changed or deleted.
    package var changes: Int64
    package var lastInsertedRowid: Int64
    /// Whether a transaction is open.
    package var isInTransaction: Bool

    package init(changes: Int64, lastInsertedRowid: Int64, isInTransaction: Bool) {
        self.changes = changes
        self.lastInsertedRowid = lastInsertedRowid
        self.isInTransaction = isInTransaction
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.append(changes)
        buffer.append(lastInsertedRowid)
        buffer.append(isInTransaction)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        changes = try reader.integer()
        lastInsertedRowid = try reader.integer()
        isInTransaction = try reader.bool()
        try reader.finish()
    }
}

/// The reason why a request failed.
package struct RequestFailure: Error, Equatable, Sendable {
    package enum Code: UInt8, Sendable, CaseIterable {
        case libraryMissing = 1
        case libraryUnusable
        case formatNotSupported
        case notFound
        case exists
        case notEncrypted
        case wrongKey
        case damaged
        case busy
        case full
        case readOnly
        case inputOutput
        case constraint
        case statement
        case cancelled
        case refused
        case tooLarge
        case noMemory
        case wrotePlainText
        case notThisProtocol
    }

    package var code: Code
    /// SQLite's extended result code; 0 if SQLite was not called.
    package var resultCode: Int32
    package var reason: String

    package init(_ code: Code, _ reason: String, resultCode: Int32 = 0) {
        self.code = code
        self.resultCode = resultCode
        self.reason = reason
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.append(code.rawValue)
        buffer.append(resultCode)
        buffer.append(String(decoding: reason.utf8.prefix(FrameLimits.text / 4), as: UTF8.self))
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        guard let code = Code(rawValue: try reader.integer()) else { throw FrameError("an unknown failure") }
        self.code = code
        resultCode = try reader.integer()
        reason = try reader.string()
        try reader.finish()
    }
}
