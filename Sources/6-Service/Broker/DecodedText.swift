import Bytes

/// A text without its escapes, or without its white space, and where each byte of it comes from.
///
/// All kinds of escapes are undone at once, because answers mix them: `%41` (RFC 3986), `\n`, `\u0041`, `\x41` and `\$`
/// (JSON and the languages of programs), `&lt;` and `&#65;` (HTML).
struct DecodedText {
    private(set) var bytes: [UInt8] = []
    private var runs: [Run] = []

    /// Bytes that stand in a row in the text before, or all bytes of one escape.
    private struct Run {
        var at: Int
        var from: Int
        /// Where the escape ends in the text before; nil for bytes that are as they were.
        var end: Int? = nil
    }

    private init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    /// - Parameter isEnd: Whether nothing follows the text.
    /// - Returns: Nil for a text without escapes; and where an escape begins whose end is not there yet.
    static func undoing(
        escapesOf text: UnsafeBufferPointer<UInt8>, isEnd: Bool
    ) -> (decoded: DecodedText?, rest: Int) {
        var (decoded, place, copied): (DecodedText?, Int, Int) = (nil, 0, 0)
        var search = EscapeSearch(text)
        while true {
            place = search.next(from: place)
            guard place < text.count else { break }
            switch Escape(in: text, at: place) {
            case .none: place += 1
            case .open:
                guard isEnd else {
                    var decoded = decoded ?? DecodedText()
                    decoded.append(text, copied..<place)
                    return (decoded, place)
                }
                place += 1
            case .byte(let byte, let length):
                if decoded == nil { decoded = DecodedText(capacity: text.count) }
                decoded?.append(text, copied..<place)
                decoded?.append(CollectionOfOne(byte), from: place, length)
                place += length
                copied = place
            case .scalar(let scalar, let length):
                if decoded == nil { decoded = DecodedText(capacity: text.count) }
                decoded?.append(text, copied..<place)
                if let units = UTF8.encode(scalar) { decoded?.append(units, from: place, length) }
                place += length
                copied = place
            }
        }
        decoded?.append(text, copied..<text.count)
        return (decoded, text.count)
    }

    /// Without what line folding and UTF-16 put between characters.
    ///
    /// - Returns: Nil for a text that has none of it.
    static func removing(spaceFrom text: UnsafeBufferPointer<UInt8>) -> DecodedText? {
        guard text.contains(where: isSpace) else { return nil }
        var (result, runs): (DecodedText, [Run]) = (DecodedText(), [])
        runs.reserveCapacity(text.count / 8)
        result.bytes = Array(unsafeUninitializedCapacity: text.count) { bytes, count in
            var place = 0
            while place < text.count {
                runs.append(Run(at: count, from: place))
                while place < text.count, !isSpace(text[place]) {
                    bytes[count] = text[place]
                    (count, place) = (count + 1, place + 1)
                }
                let end = place
                while place < text.count, isSpace(text[place]) { place += 1 }
                guard place - end > longestSpace else { continue }
                // No secret has this byte, so no occurrence goes on.
                runs.append(Run(at: count, from: end, end: place))
                bytes[count] = 0x01
                count += 1
            }
        }
        result.runs = runs
        return result
    }

    /// An occurrence has no more white space in a row: else what begins one would be kept as long as nothing else
    /// comes.
    private static let longestSpace = 64

    static func isSpace(_ byte: UInt8) -> Bool {
        guard byte <= 0x20 else { return false }
        return switch byte {
        case 0x00, 0x09, 0x0A...0x0D, 0x20: true
        default: false
        }
    }

    private mutating func append(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
        guard !range.isEmpty else { return }
        runs.append(Run(at: bytes.count, from: range.lowerBound, end: nil))
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[range]))
    }

    private mutating func append(_ decoded: some Collection<UInt8>, from place: Int, _ length: Int) {
        runs.append(Run(at: bytes.count, from: place, end: place + length))
        bytes.append(contentsOf: decoded)
    }

    mutating func wipe() { bytes.withUnsafeMutableBytes { SecretBytes.wipe($0) } }

    /// The number of the last run that begins at or before a place; nil before the first one.
    private func run(_ place: Int, _ key: KeyPath<Run, Int>) -> Int? {
        var (low, high) = (0, runs.count)
        while low < high {
            let middle = (low + high) / 2
            if runs[middle][keyPath: key] <= place { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? low - 1 : nil
    }

    /// The bytes of the text before from which a byte was made.
    func origin(of place: Int) -> Range<Int> {
        guard let number = run(place, \.at) else { return 0..<0 }
        let run = runs[number]
        if let end = run.end { return run.from..<end }
        let start = run.from + place - run.at
        return start..<start + 1
    }

    /// Where a place of the text before is in this one: at the first byte that was made from it, or from what follows.
    ///
    /// - Parameter origin: Not inside of an escape.
    func place(of origin: Int) -> Int {
        guard let number = run(origin, \.from) else { return 0 }
        let end = number + 1 < runs.count ? runs[number + 1].at : bytes.count
        return min(runs[number].at + origin - runs[number].from, end)
    }

    /// The beginning of the escape that a place of the text before is inside of; that place if it is in none.
    func boundary(before origin: Int) -> Int {
        guard let number = run(origin, \.from), let end = runs[number].end, origin < end else { return origin }
        return runs[number].from
    }
}
