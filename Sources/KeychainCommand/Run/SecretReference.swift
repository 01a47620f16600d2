import Foundation
import KeychainModel

/// Where a secret is in the keychain, as a URL: `keychain://SERVICE/ACCOUNT`, and where that means several items,
/// `?group=GROUP` and `?synchronizable=yes` or `no` behind it. Parts are percent-encoded (RFC 3986).
struct SecretReference: Sendable, Hashable {
    static let scheme = "keychain://"

    /// As it was written.
    let text: String
    let service: String
    let account: String
    let group: String?
    let synchronizable: SynchronizableScope

    /// Why a text is no reference. It does not repeat the text, which may be a secret in the wrong place.
    struct Problem: Error {
        let reason: String
    }

    init(_ text: String) throws(Problem) {
        guard text.hasPrefix(Self.scheme) else {
            throw Problem(reason: "is no reference: write \(Self.scheme)SERVICE/ACCOUNT")
        }
        guard text.dropFirst(Self.scheme.count).contains("/") else { throw Self.nameless }
        guard let parts = URLComponents(string: text, encodingInvalidCharacters: false), parts.fragment == nil,
            // What the service has before an '@' or behind a ':' would be something else.
            let host = parts.encodedHost, text.hasPrefix(Self.scheme + host + "/"),
            let service = parts.host
        else { throw Self.badlyEncoded }
        let path = parts.percentEncodedPath.dropFirst()
        guard !service.isEmpty, !path.isEmpty, !path.contains("/") else { throw Self.nameless }
        guard let account = String(path).removingPercentEncoding else { throw Self.badlyEncoded }
        var group: String?
        var synchronizable: SynchronizableScope?
        for item in parts.queryItems ?? [] {
            switch (item.name, item.value) {
            case ("group", let value?) where group == nil && !value.isEmpty: group = value
            case ("synchronizable", "yes") where synchronizable == nil: synchronizable = .synchronizableOnly
            case ("synchronizable", "no") where synchronizable == nil: synchronizable = .localOnly
            default:
                throw Problem(
                    reason: "has something else than 'group=GROUP' and 'synchronizable=yes' or 'no', once each, behind "
                        + "its '?'")
            }
        }
        (self.text, self.service, self.account, self.group) = (text, service, account, group)
        self.synchronizable = synchronizable ?? .any
    }

    private static let nameless = Problem(
        reason: "does not name one service and one account: write \(scheme)SERVICE/ACCOUNT, and a '/' in either as %2F")

    private static let badlyEncoded = Problem(
        reason: "is not percent-encoded: all but letters, digits and -._~ is written as % and two hexadecimal digits "
            + "for each byte of UTF-8, as in %20 for a space")
}
