import Bytes
import FoundationEssentials

extension Placeholder {
    private struct Header: Codable {
        var alg: String
        var typ: String?
    }

    private struct Claims: Encodable {
        var exp: Int64
        var iat: Int64
        var jti: String
        var sub = "placeholder"
    }

    /// The end of the year 2099. A program must not think that its placeholder is over.
    private static let end: Int64 = 4_102_444_799

    /// Makes a placeholder for an access token: a JSON Web Token (RFC 7519) if that is one, because clients read it.
    ///
    /// It has the algorithm of the token, a length like it, and claims that say nothing.
    package static func make(forToken secret: SecretBytes) -> String {
        let parts = secret.withUnsafeBytes { bytes in
            bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { Array($0) }
        }
        guard parts.count == 3, let first = UnpaddedBase64.url.decode(parts[0]),
            let header = try? JSONDecoder().decode(Header.self, from: Data(first)),
            let claims = try? JSONEncoder.sorted.encode(
                Claims(exp: end, iat: Int64(clamping: Date().timeIntervalSince1970.rounded(.down)), jti: random())),
            let head = try? JSONEncoder.sorted.encode(Header(alg: Self.algorithm(header.alg), typ: "JWT"))
        else { return make(for: secret) }
        var signature = ""
        while signature.utf8.count < max(parts[2].count, 22) { signature += random() }
        return [UnpaddedBase64.url.string(Array(head)), UnpaddedBase64.url.string(Array(claims)), signature]
            .joined(separator: ".")
    }

    /// The usual one of a family of algorithms (RFC 7518, 3.1).
    private static func algorithm(_ name: String) -> String {
        ["RS", "ES", "PS", "HS"].first { name.hasPrefix($0) }.map { $0 + "256" } ?? "EdDSA"
    }

    /// 128 bits as 22 characters.
    private static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return UnpaddedBase64.url.string(
            (0..<2).flatMap { _ in withUnsafeBytes(of: generator.next()) { Array($0) } })
    }
}

extension JSONEncoder {
    fileprivate static var sorted: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
    }
}
