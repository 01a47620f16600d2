import Bytes

/// Replaces secrets in the answer of a server, which comes in pieces.
///
/// Every byte of an occurrence becomes a `*`, so that the answer keeps its length. An occurrence is found in the text
/// as it is, with its escapes undone up to three times, and without white space. Only bytes that may be the beginning
/// of one are held back. The result does not depend on where the pieces end.
package struct AnswerMask: Sendable {
    private static let mask = UInt8(ascii: "*")
    /// How often escapes are undone: a text in JSON, in JSON, in a URL.
    private static let depth = 3
    /// So much is looked at together: what it becomes stays in the processor's cache.
    private static let block = 16 << 10

    private let patterns: MaskPatterns
    private var held: [UInt8] = []
    /// The occurrence in the bytes before that goes on in `held`.
    private var covered = 0

    /// - Throws: ``VaultMemoryError`` if there is no locked memory.
    package init(_ secrets: [SecretBytes]) throws { patterns = try MaskPatterns(secrets) }

    /// Takes the next piece of the answer.
    ///
    /// - Returns: The bytes that are certain now, which may be none.
    package mutating func take(_ piece: UnsafeRawBufferPointer) -> [UInt8] {
        guard !patterns.isEmpty else { return Array(piece) }
        var result: [UInt8] = []
        result.reserveCapacity(held.count + piece.count)
        for start in stride(from: 0, to: piece.count, by: Self.block) {
            let block = UnsafeRawBufferPointer(rebasing: piece[start..<min(start + Self.block, piece.count)])
            if held.isEmpty {
                pass(block.bindMemory(to: UInt8.self), isEnd: false, to: &result)
            } else {
                held.append(contentsOf: block)
                passHeld(isEnd: false, to: &result)
            }
        }
        return result
    }

    /// Returns the rest, at the end of the answer.
    package mutating func finish() -> [UInt8] {
        var result: [UInt8] = []
        passHeld(isEnd: true, to: &result)
        return result
    }

    private mutating func passHeld(isEnd: Bool, to result: inout [UInt8]) {
        var text = held
        held = []
        text.withUnsafeBufferPointer { pass($0, isEnd: isEnd, to: &result) }
        text.withUnsafeMutableBytes { SecretBytes.wipe($0) }
    }

    private mutating func pass(_ text: UnsafeBufferPointer<UInt8>, isEnd: Bool, to result: inout [UInt8]) {
        guard !text.isEmpty else { return }
        var layers = Layers(of: text, patterns, isEnd: isEnd)
        let certain = layers.certain()
        let start = result.count
        result.append(contentsOf: UnsafeBufferPointer(rebasing: text[..<certain]))
        held = Array(text[certain...])
        for index in 0..<min(covered, certain) { result[start + index] = Self.mask }
        covered = max(0, covered - certain)
        for range in layers.found where range.lowerBound < certain {
            for index in range.lowerBound..<min(range.upperBound, certain) { result[start + index] = Self.mask }
            covered = max(covered, range.upperBound - certain)
        }
        // It may have a secret in the clear that the text has not.
        if !layers.found.isEmpty || !held.isEmpty { layers.wipe() }
    }

    /// A text, and what it becomes when something is undone.
    private struct Layers {
        private struct Layer {
            var text: DecodedText
            /// The number of the layer that it was made from; nil for the text itself.
            var before: Int?
            var isDecoded: Bool
        }

        private var layers: [Layer] = []
        /// The occurrences, as places of the text itself.
        private(set) var found: [Range<Int>] = []
        private var end: Int

        init(of text: UnsafeBufferPointer<UInt8>, _ patterns: MaskPatterns, isEnd: Bool) {
            end = text.count
            search(text, nil, patterns, isEnd: isEnd)
            addWithoutSpace(text, nil, patterns, isEnd: isEnd)
            var (current, before): (DecodedText?, Int?) = (nil, nil)
            for _ in 0..<AnswerMask.depth {
                let (decoded, rest) =
                    current?.bytes.withUnsafeBufferPointer { DecodedText.undoing(escapesOf: $0, isEnd: isEnd) }
                    ?? DecodedText.undoing(escapesOf: text, isEnd: isEnd)
                hold(from: rest, in: before)
                guard let decoded else { return }
                layers.append(Layer(text: decoded, before: before, isDecoded: true))
                (current, before) = (decoded, layers.count - 1)
                decoded.bytes.withUnsafeBufferPointer {
                    search($0, before, patterns, isEnd: isEnd)
                    addWithoutSpace($0, before, patterns, isEnd: isEnd)
                }
            }
        }

        private mutating func addWithoutSpace(
            _ text: UnsafeBufferPointer<UInt8>, _ before: Int?, _ patterns: MaskPatterns, isEnd: Bool
        ) {
            guard let text = DecodedText.removing(spaceFrom: text) else { return }
            layers.append(Layer(text: text, before: before, isDecoded: false))
            text.bytes.withUnsafeBufferPointer { search($0, layers.count - 1, patterns, isEnd: isEnd) }
        }

        private mutating func search(
            _ text: UnsafeBufferPointer<UInt8>, _ layer: Int?, _ patterns: MaskPatterns, isEnd: Bool
        ) {
            var ranges: [Range<Int>] = []
            let start = patterns.search(text, isEnd: isEnd) { ranges.append($0) }
            for range in ranges {
                found.append(
                    origin(range.lowerBound, layer).lowerBound..<origin(range.upperBound - 1, layer).upperBound)
            }
            if start < text.count { hold(from: start, in: layer) }
        }

        /// The bytes of the text itself from which a byte of a layer was made.
        private func origin(_ place: Int, _ layer: Int?) -> Range<Int> {
            guard let layer else { return place..<place + 1 }
            let range = layers[layer].text.origin(of: place)
            let before = layers[layer].before
            return origin(range.lowerBound, before).lowerBound..<origin(range.upperBound - 1, before).upperBound
        }

        private func count(of layer: Int?) -> Int? { layer.map { layers[$0].text.bytes.count } }

        private mutating func hold(from place: Int, in layer: Int?) {
            if let count = count(of: layer), place >= count { return }
            end = min(end, layer == nil ? place : origin(place, layer).lowerBound)
        }

        /// How many bytes are certain: none of them is within an escape that ends later.
        mutating func certain() -> Int {
            while true {
                let before = end
                for layer in layers.indices where layers[layer].isDecoded {
                    let boundary = layers[layer].text.boundary(before: place(of: end, in: layers[layer].before))
                    hold(from: boundary, in: layers[layer].before)
                }
                guard end < before else { return end }
            }
        }

        /// Where a place of the text itself is in a layer.
        private func place(of origin: Int, in layer: Int?) -> Int {
            guard let layer else { return origin }
            return layers[layer].text.place(of: place(of: origin, in: layers[layer].before))
        }

        mutating func wipe() { for layer in layers.indices { layers[layer].text.wipe() } }
    }
}
