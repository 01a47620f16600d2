import Bytes
import FoundationEssentials

/// Reads the files of other programs.
package enum ExchangeReader {
    /// The largest file, in bytes: an account with attachments.
    package static let largest = 256 << 20
    /// The most entries of a file.
    private static let mostEntries = 200_000
    /// The most bytes of the files of all entries: a thousand entries can name one and the same file.
    private static let mostAttached = 512 << 20

    /// Returns what is in a file.
    ///
    /// - Parameters:
    ///   - format: Nil to tell it from the contents.
    ///   - name: The name of the file, without folders: the title of entries that have none.
    ///   - keyFile: What a key file of KeePass has, if there is one.
    ///   - password: Called only for an encrypted file; returns nil if there is nobody to ask.
    /// - Throws: ``ExchangeError``, and what `password` throws.
    package static func entries(
        in bytes: Data, as format: ExchangeFormat? = nil, named name: String, keyFile: Data? = nil,
        password: () throws -> SecretBytes?
    ) throws -> ExchangeContents {
        guard bytes.count <= largest else { throw ExchangeError.tooLarge }
        let contents = try read(plainText(bytes), format, name, keyFile, password)
        let attached = contents.entries.reduce(0) { sum, entry in
            sum + entry.attachments.reduce(0) { $0 + $1.contents.count }
        }
        guard contents.entries.count <= mostEntries, attached <= mostAttached else { throw ExchangeError.tooLarge }
        return contents
    }

    /// Returns the format of a file; nil if it is none of those.
    package static func format(of bytes: Data) -> ExchangeFormat? {
        let bytes = plainText(bytes)
        if KDBXReader.isMeant(bytes) { return .kdbx }
        if OnePasswordReader.isMeant(bytes) { return .onePassword }
        let first = bytes.first { !" \t\r\n\u{FEFF}".utf8.contains($0) }
        if first == UInt8(ascii: "{") { return JSONValue(parsing: bytes).flatMap(format) }
        guard let text = String(validating: bytes, as: UTF8.self), !text.contains("\0") else { return nil }
        if OTPAuthReader.isMeant(text) { return .otpauth }
        if DumpReader.isMeant(text) { return .dump }
        if NetrcReader.isMeant(text) { return .netrc }
        if CSVReader.isMeant(bytes) { return .csv }
        return EnvReader.isMeant(text) ? .env : nil
    }

    private static func format(of json: JSONValue) -> ExchangeFormat? {
        if AegisReader.isMeant(json) { return .aegis }
        if BitwardenReader.isMeant(json) { return .bitwarden }
        return CXFReader.isMeant(json) ? .cxf : nil
    }

    /// Whether the file is an archive, in which anything can stand.
    package static func isArchive(_ bytes: Data) -> Bool { Archive.isMeant(bytes) }

    /// Returns text in UTF-8 without a byte order mark, which Windows puts before text, also before text in UTF-16.
    /// Other bytes stay as they are.
    package static func plainText(_ bytes: Data) -> Data {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return Data(bytes.dropFirst(3)) }
        guard bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]),
            let text = String(data: bytes, encoding: .utf16)
        else { return bytes }
        return Data(text.utf8)
    }

    private static func read(
        _ bytes: Data, _ format: ExchangeFormat?, _ name: String, _ keyFile: Data?,
        _ password: () throws -> SecretBytes?
    ) throws -> ExchangeContents {
        guard let format = format ?? self.format(of: bytes) else { throw ExchangeError.unknown }
        switch format {
        case .csv: return try CSVReader.read(bytes)
        case .cxf: return try CXFReader.read(json(bytes, format))
        case .bitwarden: return try BitwardenReader.read(json(bytes, format), password: password)
        case .kdbx: return try KDBXReader.read(bytes, password: password, keyFile: keyFile)
        case .onePassword: return try OnePasswordReader.read(bytes)
        case .aegis: return try AegisReader.read(json(bytes, format), password: password)
        case .otpauth: return try OTPAuthReader.read(text(bytes, format))
        case .env: return EnvReader.read(try text(bytes, format), named: name)
        case .netrc: return NetrcReader.read(try text(bytes, format))
        case .dump: return DumpReader.read(try text(bytes, format))
        }
    }

    private static func json(_ bytes: Data, _ format: ExchangeFormat) throws(ExchangeError) -> JSONValue {
        guard let json = JSONValue(parsing: bytes) else {
            throw .malformed(format, "it is no JSON, or was cut off")
        }
        return json
    }

    private static func text(_ bytes: Data, _ format: ExchangeFormat) throws(ExchangeError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .malformed(format, "it is not text in UTF-8")
        }
        return text
    }
}
