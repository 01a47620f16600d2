import Bytes
import FoundationEssentials

/// What an authorization server says of a log-in that a person allows in a browser, on this or another device
/// (RFC 8628, 3.2).
package struct DeviceAuthorization: Sendable, Equatable {
    /// What the person types there.
    package var userCode: String
    /// Where the person types it.
    package var place: String
    /// The same address with the code in it; nil if the server has none.
    package var placeWithCode: String?
    /// For how many seconds the codes are good.
    package var lifetime: Int64
    /// How many seconds pass between two questions.
    package var interval: Int64
    /// With this, the device asks whether the person has allowed it.
    package var deviceCode: HeldSecret

    /// In seconds, if the server does not say (RFC 8628, 3.5).
    private static let usualInterval: Int64 = 5
    /// In seconds. No person takes longer.
    private static let longestLifetime: Int64 = 3_600
    /// In bytes. A person reads it.
    private static let longestText = 512

    private struct Body: Decodable {
        private enum CodingKeys: String, CodingKey {
            case deviceCode = "device_code"
            case userCode = "user_code"
            case place = "verification_uri"
            // Some servers followed an earlier draft.
            case formerPlace = "verification_url"
            case placeWithCode = "verification_uri_complete"
            case lifetime = "expires_in"
            case interval
        }

        var deviceCode: String
        var userCode: String
        var place: String?
        var formerPlace: String?
        var placeWithCode: String?
        var lifetime: Double?
        var interval: Double?
    }

    /// - Returns: Nil if the body is no such answer, or has what cannot be shown to a person.
    package init?(_ body: [UInt8]) {
        guard let read = try? JSONDecoder().decode(Body.self, from: Data(body)),
            let place = read.place ?? read.formerPlace, let code = TokenAnswer.token(read.deviceCode, least: 1),
            Self.isShown(read.userCode), Self.isAddress(place)
        else { return nil }
        (userCode, self.place, deviceCode) = (read.userCode, place, code)
        placeWithCode = read.placeWithCode.flatMap { Self.isAddress($0) ? $0 : nil }
        lifetime = Self.seconds(read.lifetime, usually: Self.longestLifetime, Self.longestLifetime)
        interval = Self.seconds(read.interval, usually: Self.usualInterval, 60)
    }

    private static func seconds(_ number: Double?, usually usual: Int64, _ most: Int64) -> Int64 {
        guard let number, number >= 1 else { return usual }
        return min(most, Int64(clamping: number.rounded(.up)))
    }

    /// Printable ASCII and no more than a person reads.
    private static func isShown(_ text: String) -> Bool {
        (1...longestText).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// The host of the place.
    package var host: String { Self.host(place) ?? "" }

    private static func isAddress(_ text: String) -> Bool {
        isShown(text) && !text.contains(" ") && host(text) != nil
    }

    private static func host(_ text: String) -> String? {
        guard text.hasPrefix("https://") else { return nil }
        let authority = text.dropFirst(8).prefix { !"/?#".contains($0) }
        // A name before '@' would look like the host.
        return BrokerDestination.authority(String(authority), standard: 443)?.host
    }
}

extension TokenRequest {
    /// Asks for the codes with which a person allows a log-in (RFC 8628, 3.1).
    package init(authorizing login: StoredLogin) throws {
        try self.init(login.scope.map { [("scope", Array($0.utf8))] } ?? [], of: login)
    }

    /// Asks whether the person has allowed it (RFC 8628, 3.4).
    package init(askingFor authorization: DeviceAuthorization, of login: StoredLogin) throws {
        let code = authorization.deviceCode.bytes.withUnsafeBytes { Array($0) }
        try self.init(
            [
                ("grant_type", Array("urn:ietf:params:oauth:grant-type:device_code".utf8)), ("device_code", code),
            ], of: login)
    }
}
