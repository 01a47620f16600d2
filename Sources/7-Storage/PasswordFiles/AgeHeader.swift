import Bytes
import Crypto
import FoundationEssentials
import ProtectedFiles

/// The header of an age file (age-encryption.org/v1) that was encrypted with a passphrase.
struct AgeHeader {
    static let firstLine = "age-encryption.org/v1\n"
    /// The largest header in bytes. A passphrase has one stanza; a longer header has many recipients.
    private static let limit = 1 << 16
    private static let saltSize = 16
    private static let fileKeySize = 16

    /// The bytes before the authentication code.
    private let text: Data
    private let code: Data
    private let salt: Data
    let cost: PasswordCost
    /// The encrypted key of the file.
    private let body: Data

    init(_ input: some ByteStream, path: String) throws(SealedFileError) {
        var lines = AgeLines(path: path)
        guard try lines.next(input) + "\n" == Self.firstLine else {
            throw .unreadable(path: path, reason: "it is not a file of age's first version")
        }
        let stanza = try lines.next(input).split(separator: " ", omittingEmptySubsequences: false)
        guard stanza.first == "->", stanza.count >= 2 else { throw lines.malformed }
        guard stanza[1] == "scrypt" else {
            throw .unreadable(
                path: path,
                reason: "it was encrypted for a key (\(stanza[1].prefix(20))), not with a passphrase: use age")
        }
        guard stanza.count == 4, let salt = Data(ageBase64: stanza[2]), salt.count == Self.saltSize,
            let logN = UInt32(stanza[3]), String(logN) == stanza[3],
            let body = Data(ageBase64: try lines.next(input)[...]),
            body.count == Self.fileKeySize + 16
        else { throw lines.malformed }
        (self.salt, self.body) = (salt, body)
        cost = .scrypt(logN: logN, blockSize: 8, parallelism: 1)
        let last = try lines.next(input)
        guard last.hasPrefix("--- "), let code = Data(ageBase64: last.dropFirst(4)), code.count == 32 else {
            if last.hasPrefix("-> ") {
                throw .unreadable(path: path, reason: "a file with a passphrase cannot have other recipients")
            }
            throw lines.malformed
        }
        self.code = code
        text = Data(lines.text.dropLast(last.utf8.count - 2))
        guard cost.isAcceptable else { throw .tooCostly(path: path, cost: cost.description) }
    }

    /// Decrypts the file's key.
    func fileKey(_ passphrase: SecretBytes, path: String) throws(SealedFileError) -> SymmetricKey {
        let label = Array("age-encryption.org/v1/scrypt".utf8)
        let stretched: SecretBytes
        do throws(VaultMemoryError) {
            stretched = try cost.stretch(passphrase, salt: label + salt)
        } catch {
            throw .memoryUnavailable
        }
        let wrapping = stretched.withUnsafeBytes { SymmetricKey(data: $0) }
        guard let box = try? ChaChaPoly.SealedBox(combined: Data(count: 12) + body),
            let opened = try? ChaChaPoly.open(box, using: wrapping)
        else { throw .wrongPassword(path: path) }
        let key = SymmetricKey(data: opened)
        let codeKey = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key, info: Data("header".utf8), outputByteCount: 32)
        guard HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: text, using: codeKey) else {
            throw .damaged(path: path, part: .header)
        }
        return key
    }

    /// A reader of the lines of a header.
    private struct AgeLines {
        let path: String
        private(set) var text = Data()

        init(path: String) { self.path = path }

        var malformed: SealedFileError { .damaged(path: path, part: .header) }

        /// Returns the next line without its end.
        mutating func next(_ input: some ByteStream) throws(SealedFileError) -> String {
            var length = 64
            while true {
                let bytes = try input.peek(length)
                if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = try input.read(end - bytes.startIndex + 1)
                    text.append(line)
                    guard let string = String(validating: line.dropLast(), as: UTF8.self),
                        string.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
                    else { throw malformed }
                    return string
                }
                guard bytes.count == length else { throw .truncated(path: path) }
                length *= 2
                guard text.count + length <= AgeHeader.limit else { throw malformed }
            }
        }
    }
}

extension Data {
    /// Decodes RFC 4648, section 4, without padding. Accepts only the canonical encoding.
    init?(ageBase64 text: Substring) {
        guard let bytes = UnpaddedBase64.standard.decode(text.utf8) else { return nil }
        self.init(bytes)
    }
}
