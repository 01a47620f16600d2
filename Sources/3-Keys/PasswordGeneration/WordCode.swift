import Bytes
import Crypto

/// Bytes as words that a person reads, says and types: the words of passphrases, with a checksum.
///
/// The bytes and the first byte of their SHA-256 digest are one number, whose digits on the base of 7,776 are the
/// numbers of the words. 16 bytes take 11 words.
package enum WordCode {
    /// The number of words for so many bytes.
    package static func wordCount(forBytes count: Int) -> Int {
        // A word holds 12.92 bits.
        var (words, capacity) = (0, 0.0)
        while capacity < Double(8 * (count + 1)) {
            words += 1
            capacity += 12.924812503605781
        }
        return words
    }

    package static func words(for bytes: [UInt8]) -> [String] {
        var number = bytes + SHA256.hash(data: bytes).prefix(1)
        var words: [String] = []
        for _ in 0..<wordCount(forBytes: bytes.count) {
            words.append(String(WordList.words[divide(&number)]))
        }
        return words.reversed()
    }

    /// Divides a number by that of the words.
    ///
    /// - Returns: The remainder.
    private static func divide(_ number: inout [UInt8]) -> Int {
        var rest = 0
        for index in number.indices {
            let part = rest << 8 | Int(number[index])
            number[index] = UInt8(truncatingIfNeeded: part / WordList.words.count)
            rest = part % WordList.words.count
        }
        return rest
    }

    /// Splits what a person typed into words: at white space, commas and hyphens, but not at the hyphens of words such
    /// as `drop-down`, whose first half is no word.
    package static func split(_ text: String) -> [String] {
        let parts = text.split { $0.isWhitespace || $0 == "-" || $0 == "," }.map { $0.lowercased() }
        var words: [String] = []
        var rest = parts[...]
        while let part = rest.popFirst() {
            guard !isWord(part), let next = rest.first, isWord("\(part)-\(next)") else {
                words.append(part)
                continue
            }
            words.append("\(part)-\(next)")
            rest = rest.dropFirst()
        }
        return words
    }

    private static func isWord(_ text: String) -> Bool { WordList.words.contains { $0 == text } }

    /// Returns the bytes that words stand for; nil if a word is not in the list, or if the checksum is wrong.
    ///
    /// - Parameter count: How many bytes there are.
    package static func bytes(of words: [some StringProtocol], count: Int) -> [UInt8]? {
        guard words.count == wordCount(forBytes: count) else { return nil }
        var number = [UInt8](repeating: 0, count: count + 1)
        for word in words {
            guard var carry = WordList.words.firstIndex(where: { $0 == word.lowercased() }) else { return nil }
            for index in number.indices.reversed() {
                carry += Int(number[index]) * WordList.words.count
                number[index] = UInt8(truncatingIfNeeded: carry)
                carry >>= 8
            }
            guard carry == 0 else { return nil }
        }
        let bytes = Array(number.dropLast())
        return SHA256.hash(data: bytes).prefix(1).elementsEqual(number.suffix(1)) ? bytes : nil
    }
}
