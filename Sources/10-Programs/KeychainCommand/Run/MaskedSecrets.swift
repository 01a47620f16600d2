import KeychainModel
import StatusCodes

/// What is masked of a value: the value without newlines at its end, and its lines, which programs print one at a time.
///
/// Not other forms of it: base64, JSON's escapes, a quoted or a cut one.
enum MaskedSecrets {
    /// Values of fewer bytes are refused: too much else would be masked, which tells what they are.
    static let shortest = 4
    /// Shorter lines of longer values are left alone, for the same reason: there are closing brackets among them.
    static let shortestLine = 8

    static func make(of values: [(SecretReference, SecretBytes)]) throws(Failure) -> [SecretBytes] {
        var result: [SecretBytes] = []
        for (reference, value) in values {
            guard let whole = ends(of: value) else {
                throw Failure(
                    status: errSecParam,
                    "\(reference.text.escapedForTerminal): a value of less than \(shortest) bytes cannot be masked without masking much else: leave out --mask"
                )
            }
            for range in [whole] + lines(of: value, in: whole) {
                let part = try value.part(range)
                if !result.contains(part) { result.append(part) }
            }
        }
        return result
    }

    /// The value without its newlines at the end; nil if that is too short.
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
