/// A value of SQLite's, in the storage class that it has (sqlite.org/datatype3.html).
package enum SQLValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    /// The bytes of the text in UTF-8: SQLite keeps texts with zeros in them, and those that are no UTF-8.
    case text([UInt8])
    case blob([UInt8])

    package static func string(_ string: String) -> SQLValue { .text(Array(string.utf8)) }

    /// The text; nil for another storage class. What is not UTF-8 reads as U+FFFD.
    package var string: String? {
        guard case .text(let bytes) = self else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    package var integer: Int64? {
        guard case .integer(let integer) = self else { return nil }
        return integer
    }

    /// What it takes of a frame, in bytes.
    package var encodedSize: Int {
        switch self {
        case .null: 1
        case .integer, .real: 9
        case .text(let bytes), .blob(let bytes): 5 + bytes.count
        }
    }
}
