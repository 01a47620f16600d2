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

extension DatabaseID {
    /// Nil unless there are twenty hexadecimal digits, as ``description`` has them.
    package init?(hexadecimal digits: some StringProtocol) {
        let values = digits.utf8.map { (byte: UInt8) -> UInt8? in
            switch byte {
            case 0x30...0x39: byte - 0x30
            case 0x61...0x66: byte - 0x61 + 10
            default: nil
            }
        }
        guard values.count == 2 * Self.byteCount, !values.contains(nil) else { return nil }
        let nibbles = values.compactMap(\.self)
        self.init(stride(from: 0, to: nibbles.count, by: 2).map { nibbles[$0] << 4 | nibbles[$0 + 1] })
    }
}
