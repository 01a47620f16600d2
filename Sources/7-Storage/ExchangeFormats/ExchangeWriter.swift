import Bytes
import FoundationEssentials

/// Writes entries as a file that other programs read.
package enum ExchangeWriter {
    /// The formats that can be written.
    package static let formats: [ExchangeFormat] = [.cxf, .bitwarden, .kdbx, .csv, .otpauth, .env]

    /// Whether a file of this format can be encrypted under a password.
    package static func canEncrypt(_ format: ExchangeFormat) -> Bool {
        format == .bitwarden || alwaysEncrypts(format)
    }

    /// Whether a file of this format is never plain.
    package static func alwaysEncrypts(_ format: ExchangeFormat) -> Bool { format == .kdbx }

    /// Returns the file, and what of the entries has no place in it.
    ///
    /// - Parameters:
    ///   - password: What the file is encrypted under, if ``canEncrypt(_:)`` says so; nil for a plain one.
    ///   - now: When it is written.
    package static func file(
        of entries: [ExchangeEntry], as format: ExchangeFormat, password: SecretBytes?, now: Date
    ) throws -> (file: Data, lost: [ExchangeContents.Problem]) {
        switch format {
        case .cxf:
            let lost = entries.filter { !$0.attachments.isEmpty }.map {
                ExchangeContents.Problem($0.title, "its files have no place in this format")
            }
            return (try CXFWriter.file(of: entries, now: now).encoded(isPretty: true), lost)
        case .bitwarden:
            let (plain, lost) = BitwardenWriter.file(of: entries)
            guard let password else { return (try plain.encoded(isPretty: true), lost) }
            return (try BitwardenCipher.seal(plain, under: password).encoded(isPretty: true), lost)
        case .kdbx:
            guard let password else { throw ExchangeError.needsPassword }
            return try KDBXWriter.file(of: entries, password: password, now: now)
        case .csv: return CSVWriter.file(of: entries)
        case .otpauth: return OTPAuthWriter.file(of: entries)
        case .env: return EnvWriter.file(of: entries)
        case .aegis, .netrc, .dump, .onePassword:
            throw ExchangeError.malformed(format, "this format is read, and not written")
        }
    }
}
