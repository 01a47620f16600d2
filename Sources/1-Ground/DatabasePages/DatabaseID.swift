import Bytes

/// The random bytes that identify a database.
package struct DatabaseID: Sendable, Hashable, CustomStringConvertible {
    package static let byteCount = 10

    /// The ten bytes.
    package let bytes: [UInt8]

    /// Makes a new identifier.
    package init() { bytes = .random(count: Self.byteCount) }

    /// Nil unless there are ten bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// Twenty hexadecimal digits, as in the names of files.
    package var description: String { bytes.hexadecimal() }
}

extension DatabaseID {
    /// Nil unless there are twenty hexadecimal digits in the form of ``description``.
    package init?(hexadecimal digits: some StringProtocol) {
        guard let bytes = [UInt8](lowercaseHexadecimal: digits.utf8) else { return nil }
        self.init(bytes)
    }
}
