import Bytes
import CommandKit
import FoundationEssentials

/// A file in which `{{ keychain://SERVICE/ACCOUNT }}` stands for secrets.
///
/// Other text in double braces is left as it is: it may be for another program.
struct SecretTemplate {
    enum Segment {
        case text(Data)
        case secret(SecretReference, line: Int)
    }

    /// The largest size of a filled file in bytes, which are kept in memory.
    static let limit = 64 << 20

    let path: String
    let segments: [Segment]

    init(reading path: String) throws(Failure) {
        self.path = path
        segments = try Self.segments(of: RunInput.read(path), path)
    }

    /// - Throws: `Failure` with the line, if something begins like a reference and is not one, or if there is none.
    static func segments(of bytes: Data, _ path: String) throws(Failure) -> [Segment] {
        var segments: [Segment] = []
        var line = 1
        var start = bytes.startIndex
        var place = start
        while let brace = bytes.firstRange(of: "{{", in: place..<bytes.endIndex) {
            line += bytes[place..<brace.lowerBound].count { $0 == UInt8(ascii: "\n") }
            let rest = bytes[brace.upperBound...].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            guard rest.starts(with: SecretReference.scheme.utf8) else {
                // Of three braces the last two may be meant.
                place = brace.lowerBound + 1
                continue
            }
            let endOfLine = rest.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
            guard let end = bytes.firstRange(of: "}}", in: rest.startIndex..<endOfLine) else {
                throw .input("\(path):\(line)", "a reference has no '}}' after it on its line")
            }
            let text = String(decoding: bytes[rest.startIndex..<end.lowerBound], as: UTF8.self)
            do {
                let reference = try SecretReference(text.trimmed { $0 == " " || $0 == "\t" })
                segments.append(.text(bytes[start..<brace.lowerBound]))
                segments.append(.secret(reference, line: line))
            } catch {
                throw .input("\(path):\(line)", "the text in double braces \(error.reason)")
            }
            start = end.upperBound
            place = start
        }
        guard !segments.isEmpty else {
            throw .input(
                path,
                "has no {{ \(SecretReference.scheme)SERVICE/ACCOUNT }}: name a file in which something is filled in")
        }
        return segments + [.text(bytes[start...])]
    }

    /// Returns the file with the references replaced by `secrets`.
    func filled(_ secrets: (SecretReference, _ line: Int) throws -> SecretBytes) throws -> SecretBytes {
        var parts: [SecretBytes] = []
        for segment in segments {
            switch segment {
            case .text(let bytes): parts.append(try .copy(bytes))
            case .secret(let reference, let line): parts.append(try secrets(reference, line))
            }
        }
        guard parts.reduce(0, { $0 + $1.count }) <= Self.limit else {
            throw Failure.input(
                path, "has more than \(Self.limit >> 20) MiB when it is filled in: use --file for large secrets")
        }
        return try .joining(parts)
    }
}
