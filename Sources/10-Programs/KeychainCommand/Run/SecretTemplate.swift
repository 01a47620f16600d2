import FoundationEssentials
import KeychainModel

/// A file in which `{{ keychain://SERVICE/ACCOUNT }}` stands for secrets.
///
/// Other things in double braces are left as they are: they may be for somebody else.
struct SecretTemplate {
    enum Segment {
        case text(Data)
        case secret(SecretReference, line: Int)
    }

    /// The most bytes that a filled file can have. They are kept in memory.
    static let limit = 64 << 20

    let path: String
    let segments: [Segment]

    init(reading path: String) throws(Failure) {
        self.path = path
        segments = try Self.segments(of: RunInput.read(path), path)
    }

    /// - Throws: `Failure`, with the line, for what begins like a reference and is none, and if there is none at all.
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
                throw .input("\(path):\(line)", "a reference has no '}}' behind it in its line")
            }
            let text = String(decoding: bytes[rest.startIndex..<end.lowerBound], as: UTF8.self)
            do {
                let reference = try SecretReference(String(text.trimmed { $0 == " " || $0 == "\t" }))
                segments.append(.text(bytes[start..<brace.lowerBound]))
                segments.append(.secret(reference, line: line))
            } catch {
                throw .input("\(path):\(line)", "what stands in double braces \(error.reason)")
            }
            start = end.upperBound
            place = start
        }
        guard !segments.isEmpty else {
            throw .input(
                path, "there is no {{ \(SecretReference.scheme)SERVICE/ACCOUNT }} in it: nothing is to be filled in")
        }
        return segments + [.text(bytes[start...])]
    }

    /// The file with `secrets` in their places.
    func filled(_ secrets: (SecretReference, _ line: Int) throws(Failure) -> SecretBytes) throws(Failure) -> SecretBytes
    {
        var parts: [SecretBytes] = []
        for segment in segments {
            switch segment {
            case .text(let bytes): parts.append(try .copy(bytes))
            case .secret(let reference, let line): parts.append(try secrets(reference, line))
            }
        }
        guard parts.reduce(0, { $0 + $1.count }) <= Self.limit else {
            throw .input(
                path, "has more than \(Self.limit >> 20) MiB when it is filled in: use --file for large secrets")
        }
        return try .joining(parts)
    }
}
