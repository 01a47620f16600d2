import KeychainModel

/// The random bytes that tell a database from all others.
package struct DatabaseID: Sendable, Hashable, CustomStringConvertible {
    package static let byteCount = 10

    /// Ten of them.
    package let bytes: [UInt8]

    /// A new one.
    package init() { bytes = .random(count: Self.byteCount) }

    /// Nil unless there are ten bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// Twenty hexadecimal digits, as in the names of files.
    package var description: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
