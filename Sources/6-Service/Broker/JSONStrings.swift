/// The strings of a text in JSON (RFC 8259, 7), one after the other. In a text that is not JSON, all that stands
/// between two quotes counts as a string.
struct JSONStrings: Sequence, IteratorProtocol {
    struct Element {
        /// What stands between the quotes.
        var range: Range<Int>
        /// Whether it is the name of a member, with a colon behind it.
        var isName: Bool
    }

    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func next() -> Element? {
        guard let start = bytes[place...].firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        var end = start + 1
        while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
            end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard end < bytes.count else { return nil }
        place = end + 1
        let behind = bytes[place...].first { ![0x09, 0x0A, 0x0D, 0x20].contains($0) }
        return Element(range: start + 1..<end, isName: behind == UInt8(ascii: ":"))
    }
}
