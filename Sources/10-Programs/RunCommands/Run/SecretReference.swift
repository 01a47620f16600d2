import Bytes
import KeychainModel

/// Names a secret in the keychain with a URL: `keychain://SERVICE/ACCOUNT`. If that means several items, `?group=GROUP`
/// and `?synchronizable=yes` or `no` follow. Parts are percent-encoded (RFC 3986).
struct SecretReference: Sendable, Hashable {
    static let scheme = "keychain://"

    /// As it was written.
    let text: String
    let service: String
    let account: String
    let group: String?
    let synchronizable: SynchronizableScope

    /// Why a text is not a reference. It does not repeat the text, which may be a secret in the wrong place.
    struct Problem: Error {
        let reason: String
    }

    init(_ text: String) throws(Problem) {
        guard text.hasPrefix(Self.scheme) else {
            throw Problem(reason: "is not a reference: write \(Self.scheme)SERVICE/ACCOUNT")
        }
        let parts = text.dropFirst(Self.scheme.count).split(
            separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let slash = parts[0].firstIndex(of: "/") else { throw Self.nameless }
        let path = parts[0][parts[0].index(after: slash)...]
        let service = try Self.decoded(parts[0][..<slash], allowing: "")
        guard !service.isEmpty, !path.isEmpty, !path.contains("/") else { throw Self.nameless }
        let account = try Self.decoded(path, allowing: ":@")
        var group: String?
        var synchronizable: SynchronizableScope?
        for option in parts.dropFirst().first?.split(separator: "&", omittingEmptySubsequences: false) ?? [] {
            guard option != "" || parts[1] != "" else { break }
            let words = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = try Self.decoded(words[0], allowing: ":@/?")
            let value = try words.dropFirst().first.map { (word) throws(Problem) in
                try Self.decoded(word, allowing: ":@/?")
            }
            switch (name, value) {
            case ("group", let value?) where group == nil && !value.isEmpty: group = value
            case ("synchronizable", "yes") where synchronizable == nil: synchronizable = .synchronizableOnly
            case ("synchronizable", "no") where synchronizable == nil: synchronizable = .localOnly
            default:
                throw Problem(
                    reason: "can have only 'group=GROUP' and 'synchronizable=yes' or 'no' after its '?', each once")
            }
        }
        (self.text, self.service, self.account, self.group) = (text, service, account, group)
        self.synchronizable = synchronizable ?? .any
    }

    /// Returns the decoded part (RFC 3986, 2 and 3.2.2).
    ///
    /// - Parameter others: Characters that need no encoding in this part, besides those that never need it.
    private static func decoded(_ part: Substring, allowing others: String) throws(Problem) -> String {
        var bytes: [UInt8] = []
        var rest = part.utf8
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst().flatMap(UInt8.init(hexadecimalDigit:)),
                    let low = rest.popFirst().flatMap(UInt8.init(hexadecimalDigit:))
                else { throw badlyEncoded }
                bytes.append(high << 4 | low)
            } else {
                guard unreserved.contains(byte) || others.utf8.contains(byte) else { throw badlyEncoded }
                bytes.append(byte)
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw badlyEncoded }
        return text
    }

    private static let unreserved = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=".utf8)

    private static let nameless = Problem(
        reason: "does not name one service and one account: write \(scheme)SERVICE/ACCOUNT, and a '/' in either as %2F")

    private static let badlyEncoded = Problem(
        reason:
            "is not percent-encoded: write everything except letters, digits and -._~ as % and two hexadecimal digits "
            + "for each byte of UTF-8, as in %20 for a space")
}
