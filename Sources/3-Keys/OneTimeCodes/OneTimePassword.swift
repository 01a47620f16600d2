import Bytes
import Crypto
import FoundationEssentials

/// A one-time password: a secret that a person and a service share, and how codes are made from it.
///
/// Codes by time are those of RFC 6238, codes by counter those of RFC 4226. As text it is the `otpauth://` URI that
/// services show as a QR code.
///
/// ```swift
/// let password = try OneTimePassword("otpauth://totp/Example:alice?secret=JBSWY3DPEHPK3PXP&issuer=Example")
/// let code = password.code(at: .now)
/// ```
public struct OneTimePassword: Sendable, Hashable {
    /// The hash function of the codes.
    public enum Algorithm: String, Sendable, CaseIterable {
        /// RFC 6238's default, which nearly all services use.
        case sha1 = "SHA1"
        case sha256 = "SHA256"
        case sha512 = "SHA512"
    }

    /// What a code changes with.
    public enum Factor: Sendable, Hashable {
        /// The time: there is a new code every `period` seconds, 1 to 86,400.
        case time(period: Int)
        /// A counter: each code uses it up, and the next one has one more.
        case counter(UInt64)
    }

    /// What codes look like.
    public enum Form: Sendable, Hashable {
        /// As many decimal digits: 6 to 10.
        case digits(Int)
        /// Five letters and digits, as Steam shows them.
        case steam
    }

    /// The shared secret: 1 to 1,024 bytes. Services use 10 to 64.
    public let secret: Data
    public var algorithm: Algorithm
    public let form: Form
    public var factor: Factor
    /// The service; nil if it is not given.
    public var issuer: String?
    /// Whose password it is; nil if it is not given.
    public var account: String?

    /// - Throws: ``OneTimePasswordError`` if a number is outside of its range.
    public init(
        secret: Data, algorithm: Algorithm = .sha1, form: Form = .digits(6), factor: Factor = .time(period: 30),
        issuer: String? = nil, account: String? = nil
    ) throws(OneTimePasswordError) {
        guard (1...Self.longestSecret).contains(secret.count) else { throw .secret }
        if case .digits(let digits) = form, !(6...10).contains(digits) { throw .outOfRange("digits") }
        if case .time(let period) = factor, !(1...86_400).contains(period) { throw .outOfRange("period") }
        (self.secret, self.algorithm, self.form, self.factor) = (secret, algorithm, form, factor)
        (self.issuer, self.account) = (issuer, account)
    }

    private static let longestSecret = 1_024

    // MARK: Codes

    /// Returns the code for a time. A password with a counter gives the code of its counter.
    ///
    /// - Parameter date: From 1970 on; earlier times count as 1970.
    public func code(at date: Date) -> String {
        switch factor {
        case .counter(let counter): code(of: counter)
        case .time(let period): code(of: Self.seconds(date) / UInt64(clamping: period))
        }
    }

    /// Returns for how many more seconds the code of a time is shown: 1 to the period; nil with a counter.
    public func secondsLeft(at date: Date) -> Int? {
        guard case .time(let period) = factor else { return nil }
        return period - Int(clamping: Self.seconds(date) % UInt64(clamping: period))
    }

    private static func seconds(_ date: Date) -> UInt64 {
        UInt64(exactly: max(0, min(date.timeIntervalSince1970, 1e15)).rounded(.down)) ?? 0
    }

    /// RFC 4226, section 5.3.
    private func code(of counter: UInt64) -> String {
        let message = withUnsafeBytes(of: counter.bigEndian) { Array($0) }
        let key = SymmetricKey(data: secret)
        let digest: [UInt8] =
            switch algorithm {
            case .sha1: Array(HMAC<Insecure.SHA1>.authenticationCode(for: message, using: key))
            case .sha256: Array(HMAC<SHA256>.authenticationCode(for: message, using: key))
            case .sha512: Array(HMAC<SHA512>.authenticationCode(for: message, using: key))
            }
        // The last half byte is at most 15, and a digest has at least 20 bytes.
        let start = Int((digest.last ?? 0) & 0xF)
        var number = digest[start..<start + 4].reduce(UInt64(0)) { $0 << 8 | UInt64($1) } & 0x7FFF_FFFF
        switch form {
        case .digits(let count):
            let digits = String(number)
            return digits.count < count
                ? String(repeating: "0", count: count - digits.count) + digits : String(digits.suffix(count))
        case .steam:
            return (0..<5).reduce(into: "") { code, _ in
                code.unicodeScalars.append(Self.steamLetters[Int(clamping: number % 26)])
                number /= 26
            }
        }
    }

    private static let steamLetters = Array("23456789BCDFGHJKMNPQRTVWXY".unicodeScalars)
}

/// What is wrong with the text of a one-time password.
public enum OneTimePasswordError: Error, Equatable, Sendable, CustomStringConvertible {
    /// It is neither an `otpauth://` URI nor a secret in Base32.
    case format
    /// The secret is missing, is not Base32, or has more than 1,024 bytes.
    case secret
    /// A number, with this name in the URI, is outside of its range.
    case outOfRange(String)
    /// The URI asks for something that has no meaning here, such as another algorithm: its name and its value.
    case unknown(String, String)

    public var description: String {
        switch self {
        case .format: "it is neither an otpauth:// address nor a secret in Base32"
        case .secret: "its secret is missing, is not Base32, or has more than 1024 bytes"
        case .outOfRange(let name): "its '\(name)' is out of range"
        case .unknown(let name, let value): "its '\(name)' is '\(value)', which is not known"
        }
    }
}
