import Foundation

/// Bytes as text that may stand in a cookie, a header or a URL: base64url without padding (RFC 4648, section 5).
package enum Base64URL {
    package static func encode(_ bytes: Data) -> String {
        bytes.base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }

    /// The bytes of text that has only the alphabet's characters, a multiple of four of them; nil for other text. Then no other
    /// text stands for the same bytes.
    package static func decode(_ text: String) -> Data? {
        guard text.utf8.count.isMultiple(of: 4), isWritten(text) else { return nil }
        return Data(
            base64Encoded: text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/"))
    }

    /// Whether text has only the alphabet's characters.
    package static func isWritten(_ text: String) -> Bool {
        text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == UInt8(ascii: "-")
                || $0 == UInt8(ascii: "_")
        }
    }
}
