import Bytes
import FoundationEssentials

/// Data in base64 between two lines that say what it is (RFC 7468).
package struct PEM {
    /// The word in the lines around the data, such as `CERTIFICATE`.
    package var kind: String
    package var der: Data
    /// Whether the data is encrypted in the way of RFC 1421, which a header says.
    package var isEncrypted = false
    /// The whole document, with the lines around the data, where it was read.
    package var text = Data()

    /// Returns the document with lines of 64 characters and a newline at the end.
    package static func encoding(_ der: Data, as kind: String) -> Data {
        let digits = Array(der.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed]).utf8)
        return Data("-----BEGIN \(kind)-----\n".utf8) + digits + Data("\n-----END \(kind)-----\n".utf8)
    }

    /// Returns the documents in a file. Text between them and the length of their lines do not matter.
    ///
    /// - Returns: Nil if one is damaged; empty if there is none.
    package static func documents(in bytes: Data) -> [PEM]? {
        var documents: [PEM] = []
        var open: (kind: String, digits: String, isEncrypted: Bool, lines: [String])?
        for line in String(decoding: bytes, as: UTF8.self)
            .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        {
            let text = String(line.trimmed)
            open?.lines.append(text)
            if let kind = boundary("BEGIN", text) {
                guard open == nil else { return nil }
                open = (kind, "", false, [text])
            } else if let kind = boundary("END", text) {
                guard let whole = open, whole.kind == kind, let der = Data(base64Encoded: whole.digits) else {
                    return nil
                }
                documents.append(
                    PEM(
                        kind: kind, der: .wipedWhenFreed(der), isEncrypted: whole.isEncrypted,
                        text: .wipedWhenFreed(Data((whole.lines.joined(separator: "\n") + "\n").utf8))))
                open = nil
            } else if open != nil {
                // A header (RFC 1421, 4.6).
                if text.contains(":") {
                    if text.contains("ENCRYPTED") { open?.isEncrypted = true }
                } else if open?.isEncrypted != true || !text.contains(",") {
                    open?.digits += text
                }
            }
        }
        return open == nil ? documents : nil
    }

    private static func boundary(_ word: String, _ line: String) -> String? {
        let (start, end) = ("-----\(word) ", "-----")
        guard line.hasPrefix(start), line.hasSuffix(end), line.count > start.count + end.count else { return nil }
        return String(line.dropFirst(start.count).dropLast(end.count))
    }
}
