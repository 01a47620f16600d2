import Bytes
import CommandKit

/// The parts of values that are masked: each value without newlines at its end, and its lines, which programs print one
/// at a time.
///
/// Other forms are not masked: base64, JSON's escapes, quoted or shortened values.
enum MaskedSecrets {
    /// Values of fewer bytes are not masked: so much else would be masked that it tells what they are.
    static let shortest = 4
    /// Shorter lines of a value are not masked, for the same reason: they may be closing brackets.
    static let shortestLine = 8

    static func make(of values: [(SecretReference, SecretBytes)]) throws(Failure) -> [SecretBytes] {
        var result: [SecretBytes] = []
        for (reference, value) in values {
            guard let whole = ends(of: value) else {
                CommandNote.show(
                    "\(reference.text.escapedForTerminal) is not masked: it has less than \(shortest) bytes, and much "
                        + "else would be masked with it")
                continue
            }
            for range in [whole] + lines(of: value, in: whole) {
                let part = try value.part(range)
                if !result.contains(part) { result.append(part) }
            }
        }
        return result
    }

    /// Returns the range of the value without its newlines at the end, or nil if that is too short.
    private static func ends(of value: SecretBytes) -> Range<Int>? {
        value.withUnsafeBytes { bytes in
            let last = bytes.lastIndex { !isNewline($0) }
            return last.flatMap { $0 + 1 < shortest ? nil : 0..<$0 + 1 }
        }
    }

    private static func lines(of value: SecretBytes, in whole: Range<Int>) -> [Range<Int>] {
        value.withUnsafeBytes { bytes in
            bytes[whole].split(whereSeparator: isNewline).map { line in
                line.startIndex..<line.endIndex
            }.filter { range in
                range.count >= shortestLine && range != whole && bytes[range].contains { $0 != UInt8(ascii: " ") }
            }
        }
    }

    private static func isNewline(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
}
