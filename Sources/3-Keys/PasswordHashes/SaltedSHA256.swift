import Crypto
import FoundationEssentials
import KeychainModel

/// SHA-256 over password, account and a fixed salt, joined by a separator.
///
/// Many mobile apps and tutorials used it. One try costs a fraction of a microsecond.
package struct SaltedSHA256: Sendable, Hashable {
    package var salt: String
    package var separator: String

    package init(salt: String, separator: String) {
        (self.salt, self.separator) = (salt, separator)
    }

    /// Returns the bytes of the hash; nil unless `text` has 64 hexadecimal digits.
    package static func bytes(of text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count == 64 else { return nil }
        var bytes: [UInt8] = []
        for place in stride(from: 0, to: 64, by: 2) {
            guard let high = value(digits[place]), let low = value(digits[place + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x61...0x66: digit - 0x61 + 10
        case 0x41...0x46: digit - 0x41 + 10
        default: nil
        }
    }

    package func matches(_ password: SecretBytes, account: String, hash: [UInt8]) -> Bool {
        var digest = SHA256()
        password.withUnsafeBytes { digest.update(bufferPointer: $0) }
        digest.update(data: Array((separator + account + separator + salt).utf8))
        return digest.finalize().withUnsafeBytes { found in
            hash.withUnsafeBytes { isEqualInConstantTime(found, $0) }
        }
    }
}
