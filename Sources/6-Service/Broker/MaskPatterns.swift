import Bytes

/// What is looked for in answers: secrets, and the encodings of them that ``DecodedText`` does not undo.
///
/// Small and large letters count as equal, and so do characters that encodings exchange. The search is that of Wu and
/// Manber ("A Fast Algorithm for Multi-Pattern Searching", 1994) with blocks of two bytes: it skips most of a text.
final class MaskPatterns: Sendable {
    private struct Pattern {
        let bytes: SecretBytes
        /// How much of its beginning is masked when it stands alone, because a server shortened it.
        let least: Int
    }

    private let patterns: [Pattern]
    /// How far the search goes on after a block of two bytes; 0 after one that ends the first `window` bytes of a
    /// pattern.
    private let shifts: [UInt8]
    /// The patterns by that block.
    private let byBlock: [UInt16: [Int]]
    private let window: Int
    /// The patterns by their first bytes.
    private let byFirst: [[Int]]
    /// The longest pattern in bytes.
    let longest: Int

    /// Fewer bytes are not masked: so much else would be masked that it tells what they are.
    private static let shortest = 6
    /// An answer may end within a secret: so much of one is masked at the end.
    private static let leastAtEnd = 4

    init(_ secrets: [SecretBytes]) throws {
        var seen: Set<[UInt8]> = []
        var patterns: [Pattern] = []
        for form in secrets.flatMap(SecretForms.masked) {
            let folded = form.map { Self.fold[Int($0)] }
            guard folded.count >= Self.shortest, seen.insert(folded).inserted else { continue }
            patterns.append(
                Pattern(
                    bytes: try folded.withUnsafeBytes { try SecretBytes(copying: $0) },
                    least: min(folded.count, max(8, folded.count / 4 + 4))))
        }
        for var form in seen { form.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        self.patterns = patterns
        longest = patterns.map(\.bytes.count).max() ?? 0
        let window = min(patterns.map(\.least).min() ?? 0, Int(UInt8.max))
        self.window = window
        var shifts = [UInt8](repeating: UInt8(clamping: max(1, window - 1)), count: 1 << 16)
        var (byBlock, byFirst): ([UInt16: [Int]], [[Int]]) = ([:], Array(repeating: [], count: 256))
        for (number, pattern) in patterns.enumerated() {
            pattern.bytes.withUnsafeBytes { bytes in
                byFirst[Int(bytes[0])].append(number)
                byBlock[Self.block(bytes[window - 2], bytes[window - 1]), default: []].append(number)
                for end in 1..<window {
                    for first in Self.equals[Int(bytes[end - 1])] {
                        for second in Self.equals[Int(bytes[end])] {
                            let block = Int(Self.block(first, second))
                            shifts[block] = min(shifts[block], UInt8(clamping: window - 1 - end))
                        }
                    }
                }
            }
        }
        (self.shifts, self.byBlock, self.byFirst) = (shifts, byBlock, byFirst)
    }

    var isEmpty: Bool { patterns.isEmpty }

    private static func block(_ first: UInt8, _ second: UInt8) -> UInt16 { UInt16(first) << 8 | UInt16(second) }

    /// The byte that stands for all that count as equal to a byte: large letters are small ones, a space is the `+` of
    /// forms, and `-` and `_` are what the URL's alphabet of Base64 has for `+` and `/` (RFC 4648, 5).
    private static let fold: [UInt8] = (0...UInt8.max).map { byte in
        switch byte {
        case 0x41...0x5A: byte | 0x20
        case 0x20, 0x2D: 0x2B
        case 0x5F: 0x2F
        default: byte
        }
    }

    /// The bytes that are equal to a folded one.
    private static let equals: [[UInt8]] = (0...UInt8.max).map { byte in
        (0...UInt8.max).filter { fold[Int($0)] == byte }
    }

    /// Finds all occurrences in a text.
    ///
    /// - Parameters:
    ///   - isEnd: Whether nothing follows the text.
    ///   - found: Takes the range of each, and of each long beginning of a pattern.
    /// - Returns: Where the text may begin a pattern that goes on after its end; its count if it does not.
    func search(_ text: UnsafeBufferPointer<UInt8>, isEnd: Bool, _ found: (Range<Int>) -> Void) -> Int {
        guard !patterns.isEmpty else { return text.count }
        shifts.withUnsafeBufferPointer { shifts in
            var place = window - 1
            while place < text.count {
                let shift = shifts[Int(Self.block(text[place - 1], text[place]))]
                guard shift == 0 else {
                    place += Int(shift)
                    continue
                }
                let block = Self.block(Self.fold[Int(text[place - 1])], Self.fold[Int(text[place])])
                let start = place - (window - 1)
                for number in byBlock[block] ?? [] {
                    let count = common(number, text, start)
                    if count >= patterns[number].least { found(start..<start + count) }
                }
                place += 1
            }
        }
        let start = beginningAtEnd(of: text)
        guard isEnd else { return start }
        if text.count - start >= Self.leastAtEnd { found(start..<text.count) }
        return text.count
    }

    /// How much of a pattern a text has from a place on.
    private func common(_ number: Int, _ text: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int {
        patterns[number].bytes.withUnsafeBytes { pattern in
            Self.fold.withUnsafeBufferPointer { fold in
                let most = min(pattern.count, text.count - start)
                var count = 0
                while count < most, pattern[count] == fold[Int(text[start + count])] { count += 1 }
                return count
            }
        }
    }

    private func beginningAtEnd(of text: UnsafeBufferPointer<UInt8>) -> Int {
        for start in max(0, text.count - longest + 1)..<text.count {
            let left = text.count - start
            for number in byFirst[Int(Self.fold[Int(text[start])])]
            where patterns[number].bytes.count > left && common(number, text, start) == left {
                return start
            }
        }
        return text.count
    }
}
