#if HummingbirdSupport
import Bytes
import Crypto
import Foundation

/// Makes and checks the hidden fields by which a server knows that a form is one of its own pages', and not another
/// site's (cross-site request forgery, CWE-352).
///
/// A token is 16 random bytes and an HMAC-SHA256 of these and of what it is bound to: a sign-in, or a visitor's cookie.
/// No two pages have the same, so that nothing can be guessed from the lengths of compressed pages.
public struct FormTokens: Sendable {
    /// How much of a token is random, in bytes.
    static let nonceSize = 16

    private let key: SymmetricKey

    /// - Parameter key: The same in all processes that serve a site, and after a restart: with another one, pages that
    ///   were open before can no longer be sent.
    public init(key: SymmetricKey = SymmetricKey(size: .bits256)) { self.key = key }

    /// A new token, in 64 characters that may stand in HTML and in URLs.
    ///
    /// - Parameter binding: What it is good with.
    public func make(for binding: String) -> String {
        let nonce = [UInt8].random(count: Self.nonceSize)
        return UnpaddedBase64.url.string(nonce + code(nonce, binding))
    }

    /// Whether a token was made for `binding`.
    public func isValid(_ token: String, for binding: String) -> Bool {
        guard token.utf8.count == 64, let bytes = UnpaddedBase64.url.decode(token.utf8),
            bytes.count == Self.nonceSize + SHA256.byteCount
        else { return false }
        let nonce = [UInt8](bytes.prefix(Self.nonceSize))
        return HMAC<SHA256>.isValidAuthenticationCode(
            bytes.suffix(SHA256.byteCount), authenticating: Self.message(nonce, binding), using: key)
    }

    private func code(_ nonce: [UInt8], _ binding: String) -> [UInt8] {
        [UInt8](HMAC<SHA256>.authenticationCode(for: Self.message(nonce, binding), using: key))
    }

    private static func message(_ nonce: [UInt8], _ binding: String) -> Data {
        Data("keychain form token\0".utf8) + Data(nonce) + Data(binding.utf8)
    }
}
#endif
