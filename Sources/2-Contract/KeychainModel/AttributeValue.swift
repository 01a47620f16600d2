import Bytes
import FoundationEssentials

/// The value of one attribute, in the type the caller gave it.
///
/// Apple's keychain returns an attribute in the type it was stored with (an account given as `Data`
/// comes back as `Data`), so the type is part of the value. Whether two values are *the same* for a
/// search is decided by ``canonicalBytes(as:)``, not by `==`.
package enum AttributeValue: Hashable, Sendable {
    case string(String)
    case data(Data)
    case number(Int64)
    case real(Double)
    case date(Date)

    /// The bytes that stand for this value when it is searched for or is part of a primary key.
    ///
    /// Searchable blob columns compare by bytes: a string equals the data with its UTF-8 bytes, and a
    /// number equals the four little-endian bytes of its value. Comparison is exact: case counts and
    /// Unicode is not normalised.
    package func canonicalBytes(as kind: AttributeKind) -> [UInt8] {
        var bytes: [UInt8] = []
        appendCanonicalBytes(as: kind, to: &bytes)
        return bytes
    }

    /// Appends what ``canonicalBytes(as:)`` returns.
    package func appendCanonicalBytes(as kind: AttributeKind, to bytes: inout [UInt8]) {
        switch (kind, self) {
        case (.blob, .number(let number)), (.data, .number(let number)):
            withUnsafeBytes(of: Int32(truncatingIfNeeded: number).littleEndian) { bytes.append(contentsOf: $0) }
        case (_, .string(let string)):
            if kind == .number { bytes.append(0x73) }
            bytes.append(contentsOf: string.utf8)
        case (_, .data(let data)):
            bytes.append(contentsOf: data)
        case (_, .number(let number)):
            bytes.append(0x6e)
            bytes.append(bigEndian: number)
        case (_, .real(let real)):
            bytes.append(0x72)
            bytes.append(bigEndian: real.bitPattern)
        case (_, .date(let date)):
            bytes.append(bigEndian: date.timeIntervalSinceReferenceDate.bitPattern)
        }
    }

    /// Whether a search for `other` finds an item whose attribute of this kind holds `self`.
    package func matches(_ other: AttributeValue, as kind: AttributeKind) -> Bool {
        // Most are, and then nothing needs to be made.
        if case .string(let text) = self, case .string(let other) = other, text.utf8.elementsEqual(other.utf8) {
            return true
        }
        return canonicalBytes(as: kind) == other.canonicalBytes(as: kind)
    }

    /// Whether the value is a string or data without content.
    package var isEmpty: Bool {
        switch self {
        case .string(let string): string.isEmpty
        case .data(let data): data.isEmpty
        case .number, .real, .date: false
        }
    }
}

/// What an attribute may hold and how a caller's value is converted to it.
package enum AttributeKind: Sendable {
    /// Data, string or number; kept in the caller's type.
    case blob
    /// Data; a string becomes its UTF-8 bytes, a number its four little-endian bytes.
    case data
    /// A string; data is decoded as UTF-8.
    case string
    /// A number; a boolean becomes 0 or 1, a decimal string in the 32-bit range a number.
    case number
    /// A date and nothing else.
    case date
    /// One of the accessibility strings.
    case accessible
    /// An access control object.
    case accessControl
}
