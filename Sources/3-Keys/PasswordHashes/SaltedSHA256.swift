import Bytes
import Crypto

/// SHA-256 over password, account and a fixed salt, joined by a separator.
///
/// Many mobile apps and tutorials used it. One try costs a fraction of a microsecond.
package struct SaltedSHA256: Sendable, Hashable {
    package var salt: String
    package var separator: String

    package init(salt: String, separator: String) { (self.salt, self.separator) = (salt, separator) }

    /// Returns the bytes of the hash; nil unless `text` has 64 hexadecimal digits.
    package static func bytes(of text: String) -> [UInt8]? {
        text.utf8.count == 64 ? [UInt8](hexadecimal: text.utf8) : nil
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
