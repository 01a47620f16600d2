/// A SQLite value in its storage class (sqlite.org/datatype3.html).
package enum SQLValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    /// The UTF-8 bytes of the text. SQLite also stores texts with zero bytes and texts that are not UTF-8.
    case text([UInt8])
    case blob([UInt8])

    package static func string(_ string: String) -> SQLValue { .text(Array(string.utf8)) }

    /// The text; nil for another storage class. Bytes that are not UTF-8 become U+FFFD.
    package var string: String? {
        guard case .text(let bytes) = self else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    package var integer: Int64? {
        guard case .integer(let integer) = self else { return nil }
        return integer
    }

    /// The size in a frame, in bytes.
    package var encodedSize: Int {
        switch self {
        case .null: 1
        case .integer, .real: 9
        case .text(let bytes), .blob(let bytes): 5 + bytes.count
        }
    }
}
