import Bytes
import FoundationEssentials

/// The text of a one-time password: an `otpauth://` URI, in the form that Google Authenticator's wiki describes ("Key
/// Uri Format"), with `encoder=steam` as KeePassXC writes it.
extension OneTimePassword {
    /// Reads an `otpauth://` URI, `steam://` and a secret, or a secret in Base32 alone, as services show it for typing.
    ///
    /// - Throws: ``OneTimePasswordError``.
    public init(_ text: String) throws(OneTimePasswordError) {
        let text = String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
        guard text.utf8.count <= Self.longestText else { throw .format }
        let lower = text.prefix(10).lowercased()
        if lower.hasPrefix("otpauth://") {
            try self.init(uri: text)
        } else if lower.hasPrefix("steam://") {
            try self.init(secret: Self.secret(text.dropFirst("steam://".count)), form: .steam)
        } else {
            guard let bytes = Base32.decode(text), !bytes.isEmpty else { throw .format }
            try self.init(secret: Data(bytes))
        }
    }

    private static let longestText = 8_192

    private static func secret(_ text: some StringProtocol) throws(OneTimePasswordError) -> Data {
        guard let bytes = Base32.decode(text) else { throw .secret }
        return Data(bytes)
    }

    private init(uri: String) throws(OneTimePasswordError) {
        guard let parts = URLComponents(string: uri), let kind = parts.host?.lowercased() else { throw .format }
        var values: [String: String] = [:]
        for item in parts.queryItems ?? [] where values[item.name.lowercased()] == nil {
            values[item.name.lowercased()] = item.value ?? ""
        }
        func number(_ name: String, _ usual: Int) throws(OneTimePasswordError) -> Int {
            guard let text = values[name], !text.isEmpty else { return usual }
            guard let number = Int(text) else { throw .outOfRange(name) }
            return number
        }
        guard let secret = values["secret"], !secret.isEmpty else { throw .secret }
        let isSteam = kind == "steam" || values["encoder"]?.lowercased() == "steam"
        if let encoder = values["encoder"], !encoder.isEmpty, !isSteam { throw .unknown("encoder", encoder) }
        let factor: Factor
        switch kind {
        case "totp", "steam": factor = .time(period: try number("period", 30))
        case "hotp":
            guard let counter = values["counter"].map({ UInt64($0) }) ?? 0 else { throw .outOfRange("counter") }
            factor = .counter(counter)
        default: throw .unknown("type", kind)
        }
        var algorithm = Algorithm.sha1
        if let name = values["algorithm"], !name.isEmpty {
            let plain = name.uppercased().filter { $0 != "-" }
            // Some programs write HMAC's name before it.
            guard let known = Algorithm(rawValue: plain.hasPrefix("HMAC") ? String(plain.dropFirst(4)) : plain) else {
                throw .unknown("algorithm", name)
            }
            algorithm = known
        }
        // `Issuer:account`, in which the issuer may be left out.
        let label = parts.path.drop { $0 == "/" }
        let halves = label.split(separator: ":", maxSplits: 1)
        let account = (halves.last ?? "").drop { $0 == " " }
        let issuer = values["issuer"].flatMap { $0.isEmpty ? nil : $0 } ?? (halves.count == 2 ? String(halves[0]) : nil)
        try self.init(
            secret: Self.secret(secret), algorithm: algorithm,
            form: isSteam ? .steam : .digits(number("digits", 6)), factor: factor, issuer: issuer,
            account: account.isEmpty ? nil : String(account))
    }

    /// The `otpauth://` URI. Contains the secret.
    public var uri: String {
        let kind: String
        var query = ["secret=\(Base32.encode(secret))"]
        if let issuer { query.append("issuer=\(Self.encoded(issuer))") }
        if algorithm != .sha1 { query.append("algorithm=\(algorithm.rawValue)") }
        switch form {
        case .digits(6): break
        case .digits(let digits): query.append("digits=\(digits)")
        case .steam: query.append("encoder=steam")
        }
        switch factor {
        case .time(let period):
            kind = "totp"
            if period != 30 { query.append("period=\(period)") }
        case .counter(let counter):
            kind = "hotp"
            query.append("counter=\(counter)")
        }
        let label = [issuer, account ?? ""].compactMap { $0.map(Self.encoded) }.joined(separator: ":")
        return "otpauth://\(kind)/\(label)?\(query.joined(separator: "&"))"
    }

    /// The secret in Base32, as people type it.
    public var secretText: String { Base32.encode(secret) }

    /// Percent-encodes everything but the unreserved characters of RFC 3986.
    private static func encoded(_ text: String) -> String {
        text.utf8.reduce(into: "") { result, byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
    }
}
