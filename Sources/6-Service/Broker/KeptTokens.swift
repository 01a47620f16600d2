import Bytes
import FoundationEssentials

/// Takes tokens out of answers in JSON, so that a program does not get them.
package enum KeptTokens {
    /// The longest answer with tokens, in bytes.
    package static let longest = 1 << 20
    /// The size of a token, in bytes. Answers would not hide a shorter one. A longer one takes memory for each of its
    /// forms in the mask, and a program may have a server give many.
    private static let sizes = 8...(16 << 10)

    /// An answer in which a token cannot be replaced.
    package struct Problem: Error {
        package let description: String
    }

    /// Whether an answer of this type is read.
    ///
    /// - Parameter type: The value of `Content-Type`.
    package static func reads(_ type: String?) -> Bool {
        let kind = type?.lowercased().prefix { $0 != ";" }.filter { $0 != " " } ?? ""
        return kind == "application/json" || kind.hasSuffix("+json")
    }

    /// Whether an answer of this type may have tokens that are not read: some servers give them in a form if the client
    /// does not ask for JSON.
    package static func isForm(_ type: String?) -> Bool {
        type?.lowercased().hasPrefix("application/x-www-form-urlencoded") == true
    }

    /// Replaces each text that is the value of a member with one of these names, at any depth.
    ///
    /// - Parameter placeholder: What the program gets instead of a token.
    /// - Throws: ``Problem``, and what `placeholder` throws.
    package static func replace(
        in body: [UInt8], _ names: Set<String>, _ placeholder: (SecretBytes) throws -> String
    ) throws -> [UInt8] {
        var (result, copied): ([UInt8], Int) = ([], 0)
        var name: JSONStrings.Element?
        for string in JSONStrings(body) {
            if string.isName {
                name = string
                continue
            }
            guard let of = name, isMember(string, of, body), let text = text(of.range, body), names.contains(text),
                !string.range.isEmpty
            else { continue }
            guard var token = Self.text(string.range, body) else {
                throw Problem(description: "the answer's member '\(text)' has a text that is not JSON")
            }
            guard sizes.contains(token.utf8.count) else {
                throw Problem(
                    description:
                        "the answer's member '\(text)' does not have \(sizes.lowerBound) to \(sizes.upperBound) bytes")
            }
            let secret = try token.withUTF8 { try SecretBytes(copying: UnsafeRawBufferPointer($0)) }
            result += body[copied..<string.range.lowerBound]
            result += SecretForms.json(Array(try placeholder(secret).utf8))
            copied = string.range.upperBound
        }
        return result + body[copied...]
    }

    /// Whether the string is the value that belongs to the name: nothing but a colon and space is between the two.
    private static func isMember(_ value: JSONStrings.Element, _ name: JSONStrings.Element, _ body: [UInt8]) -> Bool {
        let between = body[name.range.upperBound + 1..<value.range.lowerBound - 1]
        return between.filter { ![0x09, 0x0A, 0x0D, 0x20].contains($0) } == [UInt8(ascii: ":")]
    }

    /// The text of a string, without its escapes; nil if it is none.
    private static func text(_ range: Range<Int>, _ body: [UInt8]) -> String? {
        guard body[range].contains(UInt8(ascii: "\\")) else { return String(validating: body[range], as: UTF8.self) }
        return try? JSONDecoder().decode([String].self, from: Data("[\"".utf8 + body[range] + "\"]".utf8)).first
    }
}
