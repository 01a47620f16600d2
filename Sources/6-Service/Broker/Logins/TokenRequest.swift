import Bytes
import FoundationEssentials

/// A request to an authorization server, as a form (RFC 6749, appendix B).
package struct TokenRequest: Sendable {
    package var headers: [BrokerCall.Header]
    package var body: SecretBytes

    /// Asks for an access token with a refresh token (RFC 6749, 6).
    package init(refreshing login: StoredLogin, with token: SecretBytes) throws {
        var form = [
            ("grant_type", Array("refresh_token".utf8)), ("refresh_token", token.withUnsafeBytes { Array($0) }),
        ]
        if let scope = login.scope { form.append(("scope", Array(scope.utf8))) }
        try self.init(form, of: login)
    }

    /// - Parameter form: Its members, without those that name the client. They are wiped.
    package init(_ form: consuming [(String, [UInt8])], of login: StoredLogin) throws {
        headers = [
            .init("Content-Type", "application/x-www-form-urlencoded"), .init("Accept", "application/json"),
        ]
        let secret = login.clientSecret.map { $0.bytes.withUnsafeBytes { Array($0) } } ?? []
        switch login.authentication {
        case .none: form.append(("client_id", Array(login.client.utf8)))
        case .post:
            form.append(("client_id", Array(login.client.utf8)))
            form.append(("client_secret", secret))
        case .basic:
            // Each is written as in a form first (RFC 6749, 2.3.1).
            let pair = SecretForms.percent(login.client.utf8) + [UInt8(ascii: ":")] + SecretForms.percent(secret)
            headers.append(.init("Authorization", "Basic " + Data(pair).base64EncodedString()))
        }
        var bytes: [UInt8] = []
        for (name, value) in form {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            bytes += SecretForms.percent(name.utf8) + [UInt8(ascii: "=")] + SecretForms.percent(value)
        }
        defer { bytes.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        body = try bytes.withUnsafeBytes { try SecretBytes(copying: $0) }
    }
}
