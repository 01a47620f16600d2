import Bytes
import Crypto
import Foundation

/// What a browser or an app shows to stay signed in: 32 random bytes, which the server keeps as a hash alone.
public struct SessionToken: Sendable, Hashable {
    /// The token as 43 characters that may stand in a cookie, a header or a URL (base64url, RFC 4648, section 5). A
    /// secret.
    public let text: String

    /// A new one.
    public init() {
        text = UnpaddedBase64.url.string([UInt8].random(count: 32))
    }

    /// One that was shown; nil for what has not its form.
    public init?(_ text: String) {
        guard text.utf8.count == 43, text.utf8.allSatisfy(UnpaddedBase64.url.contains) else { return nil }
        self.text = text
    }

    /// SHA-256 of the text: of what has 256 random bits no slower hash is needed.
    public var hash: Data { Data(SHA256.hash(data: Data(text.utf8))) }
}

extension SessionToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says that it is a token, and no more.
    public var description: String { "SessionToken" }
    /// Says that it is a token, and no more.
    public var debugDescription: String { description }
    /// Without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
