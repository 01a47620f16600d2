import FoundationEssentials
import ProtectedFiles

/// The decoded bytes of age's armor: strict PEM (RFC 7468) with lines of 64 characters.
final class AgeArmor: ByteStream {
    static let begin = "-----BEGIN AGE ENCRYPTED FILE-----"
    private static let end = "-----END AGE ENCRYPTED FILE-----"
    private static let columns = 64

    private let input: any ByteStream
    private let path: String
    private var buffer = Data()
    private var isAtEnd = false
    /// Whether a line was shorter than 64 characters. Only the last line may be shorter.
    private var hasShortLine = false

    init(_ input: any ByteStream, path: String) throws(SealedFileError) {
        (self.input, self.path) = (input, path)
        guard try line() == Self.begin else { throw malformed }
    }

    private var malformed: SealedFileError {
        .unreadable(path: path, reason: "its armor is damaged; restore it from a backup")
    }

    func read(_ count: Int) throws(SealedFileError) -> Data {
        try fill(count)
        let taken = Data(buffer.prefix(count))
        buffer = Data(buffer.dropFirst(count))
        return taken
    }

    func peek(_ count: Int) throws(SealedFileError) -> Data {
        try fill(count)
        return Data(buffer.prefix(count))
    }

    private func fill(_ count: Int) throws(SealedFileError) {
        while buffer.count < count, !isAtEnd {
            guard let line = try line() else { throw .truncated(path: path) }
            if line == Self.end {
                isAtEnd = true
                try checkRest()
                return
            }
            guard !hasShortLine, !line.isEmpty, line.utf8.count <= Self.columns,
                let bytes = Data(base64Encoded: line), bytes.base64EncodedString() == line
            else { throw malformed }
            hasShortLine = line.utf8.count < Self.columns || line.hasSuffix("=")
            buffer.append(bytes)
        }
    }

    /// Checks that only white space follows the end.
    private func checkRest() throws(SealedFileError) {
        while true {
            let bytes = try input.read(1024)
            if bytes.isEmpty { return }
            guard bytes.allSatisfy({ [0x20, 0x09, 0x0A, 0x0D].contains($0) }) else { throw malformed }
        }
    }

    /// Returns the next line without its line feed and carriage return; nil at the end.
    private func line() throws(SealedFileError) -> String? {
        let bytes = try input.peek(Self.columns + 2)
        guard !bytes.isEmpty else { return nil }
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
            // The last line may end without a line feed.
            guard bytes.count < Self.columns + 2 else { throw malformed }
            return String(decoding: try input.read(bytes.count), as: UTF8.self)
        }
        var line = try input.read(end - bytes.startIndex + 1).dropLast()
        if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
        return String(decoding: line, as: UTF8.self)
    }
}
