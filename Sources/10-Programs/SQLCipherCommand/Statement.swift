import CLibrary
import Frames
import SQLCipherWire

/// A prepared statement.
final class Statement {
    private let library: CipherLibrary
    private let database: Handle
    let handle: Handle

    init(_ library: CipherLibrary, _ database: Handle, _ handle: Handle) {
        self.library = library
        self.database = database
        self.handle = handle
    }

    deinit { _ = library.finalize(handle) }

    var columnCount: Int32 { library.columnCount(handle) }

    var columnNames: [String] {
        (0..<columnCount).map { library.columnName(handle, $0).map { String(cString: $0) } ?? "" }
    }

    func bind(_ values: [SQLValue]) throws(RequestFailure) {
        let expected = Int(library.parameterCount(handle))
        guard values.count == expected else {
            throw RequestFailure(
                .statement, "the statement has \(expected) parameters, and \(values.count) values were given")
        }
        for (index, value) in values.enumerated() {
            let code = bind(value, to: Int32(index + 1))
            guard code == ResultCode.ok else { throw Connection.failure(library, database, code) }
        }
    }

    /// The values must stay where they are until ``reset()``: SQLite copies none of them.
    private func bind(_ value: SQLValue, to place: Int32) -> Int32 {
        // SQLITE_TRANSIENT: it makes a copy.
        let copied = -1
        switch value {
        case .null: return library.bindNull(handle, place)
        case .integer(let integer): return library.bindInteger(handle, place, integer)
        case .real(let real): return library.bindReal(handle, place, real)
        case .text(let bytes):
            // A null pointer would make the value NULL.
            guard !bytes.isEmpty else { return "".withCString { library.bindText(handle, place, $0, 0, copied) } }
            return bytes.withUnsafeBytes {
                library.bindText(handle, place, $0.baseAddress, Int32(clamping: $0.count), copied)
            }
        case .blob(let bytes):
            guard !bytes.isEmpty else { return library.bindZeros(handle, place, 0) }
            return bytes.withUnsafeBytes {
                library.bindBlob(handle, place, $0.baseAddress, Int32(clamping: $0.count), copied)
            }
        }
    }

    /// - Returns: Whether there is a row.
    func step() throws(RequestFailure) -> Bool {
        switch library.step(handle) {
        case ResultCode.row: return true
        case ResultCode.done: return false
        case let code: throw Connection.failure(library, database, code)
        }
    }

    func reset() {
        _ = library.reset(handle)
        _ = library.clearBindings(handle)
    }

    /// Appends the values of the row.
    func appendRow(to buffer: FrameBuffer) throws(RequestFailure) {
        for place in 0..<columnCount {
            switch library.columnType(handle, place) {
            case 1:
                buffer.append(UInt8(1))
                buffer.append(library.columnInteger(handle, place))
            case 2:
                buffer.append(UInt8(2))
                buffer.append(library.columnReal(handle, place).bitPattern)
            case 3:
                buffer.append(UInt8(3))
                try append(library.columnText(handle, place), at: place, to: buffer)
            case 4:
                buffer.append(UInt8(4))
                try append(library.columnBlob(handle, place), at: place, to: buffer)
            default:
                buffer.append(UInt8(0))
            }
        }
    }

    private func append(
        _ bytes: UnsafeRawPointer?, at place: Int32, to buffer: FrameBuffer
    ) throws(RequestFailure) {
        // Asked after the pointer, because asking for the pointer may change the encoding and so the size.
        let count = Int(library.columnBytes(handle, place))
        guard bytes != nil || count == 0 else { throw RequestFailure(.noMemory, "there is no memory for a value") }
        buffer.append(counted: UnsafeRawBufferPointer(start: bytes, count: count))
    }
}
