import Bytes

/// Removes secrets from a stream of bytes that comes in pieces.
///
/// Every byte that is part of an occurrence of a secret is removed, and each run of such bytes becomes one mask. So
/// nothing is left of the longer of two secrets that overlap or contain each other. Only bytes that may be the
/// beginning of a secret are held back. The result does not depend on where the pieces end.
///
/// Each secret is searched for with the automaton of Knuth, Morris and Pratt ("Fast Pattern Matching in Strings",
/// 1977), so that the time for a piece does not depend on what is held back.
struct OutputMask {
    static let mask = Array("********".utf8)

    private struct Secret {
        let bytes: SecretBytes
        /// For each prefix, the length of its longest proper suffix that is a prefix, too.
        let borders: [Int32]

        init(_ bytes: SecretBytes) {
            self.bytes = bytes
            var borders = [Int32](repeating: 0, count: bytes.count)
            bytes.withUnsafeBytes { bytes in
                var length = 0
                for index in bytes.indices.dropFirst() {
                    while length > 0, bytes[index] != bytes[length] { length = Int(borders[length - 1]) }
                    if bytes[index] == bytes[length] { length += 1 }
                    borders[index] = Int32(truncatingIfNeeded: length)
                }
            }
            self.borders = borders
        }

        /// Returns how much of the secret the stream ends with after `byte`, if it ended with `matched` bytes before.
        func advance(_ matched: Int, _ byte: UInt8) -> Int {
            bytes.withUnsafeBytes { bytes in
                var matched = matched
                while matched > 0, bytes[matched] != byte { matched = Int(borders[matched - 1]) }
                return bytes[matched] == byte ? matched + 1 : 0
            }
        }
    }

    private let secrets: [Secret]
    /// Which secrets begin with each byte.
    private let starts: [[Int]]
    /// The secrets of which the stream ends with a prefix, and the length of that prefix.
    private var active: [(secret: Int, matched: Int)] = []
    private var held: [UInt8] = []
    /// The occurrences in `held`, joined where they touch.
    private var covered: [Range<Int>] = []
    /// Whether the last output was a mask.
    private var isAfterMask = false

    /// - Parameter secrets: Empty ones are ignored.
    init(_ secrets: [SecretBytes]) {
        self.secrets = secrets.filter { !$0.isEmpty }.map(Secret.init)
        var starts = [[Int]](repeating: [], count: 256)
        for (number, secret) in self.secrets.enumerated() {
            secret.bytes.withUnsafeBytes { starts[Int($0[0])].append(number) }
        }
        self.starts = starts
    }

    /// Takes the next piece of the stream.
    ///
    /// - Returns: The output that is certain now, which may be empty.
    mutating func take(_ piece: UnsafeRawBufferPointer) -> [UInt8] {
        held.reserveCapacity(held.count + piece.count)
        for byte in piece {
            held.append(byte)
            if active.isEmpty, starts[Int(byte)].isEmpty { continue }
            advance(byte)
        }
        return letGo(held.count - (active.lazy.map(\.matched).max() ?? 0))
    }

    /// Returns the rest, at the end of the stream.
    mutating func finish() -> [UInt8] {
        active = []
        return letGo(held.count)
    }

    private mutating func advance(_ byte: UInt8) {
        var next: [(secret: Int, matched: Int)] = []
        for (number, matched) in active {
            let matched = note(number, secrets[number].advance(matched, byte))
            if matched > 0 { next.append((number, matched)) }
        }
        for number in starts[Int(byte)] where !active.contains(where: { $0.secret == number }) {
            let matched = note(number, 1)
            if matched > 0 { next.append((number, matched)) }
        }
        active = next
    }

    /// Covers an occurrence that ends here.
    ///
    /// - Returns: How much of the secret the stream ends with, not counting the whole secret.
    private mutating func note(_ number: Int, _ matched: Int) -> Int {
        let secret = secrets[number]
        guard matched == secret.borders.count else { return matched }
        var range = held.count - matched..<held.count
        // This occurrence ends last. It absorbs those that overlap or touch it.
        while let last = covered.last, last.upperBound >= range.lowerBound {
            range = min(last.lowerBound, range.lowerBound)..<range.upperBound
            covered.removeLast()
        }
        covered.append(range)
        return Int(secret.borders[matched - 1])
    }

    /// Returns the first `count` held bytes, with masks, and forgets them.
    private mutating func letGo(_ count: Int) -> [UInt8] {
        guard count > 0 else { return [] }
        var result: [UInt8] = []
        result.reserveCapacity(count)
        var place = 0
        while place < count {
            let next = covered.first ?? count..<count
            if next.lowerBound > place {
                let end = min(next.lowerBound, count)
                result += held[place..<end]
                isAfterMask = false
                place = end
            } else {
                if !isAfterMask { result += Self.mask }
                isAfterMask = true
                place = min(next.upperBound, count)
                guard next.upperBound <= count else { break }
                covered.removeFirst()
            }
        }
        held.withUnsafeMutableBytes { SecretBytes.wipe(UnsafeMutableRawBufferPointer(rebasing: $0[..<count])) }
        held.removeFirst(count)
        covered = covered.map { max(0, $0.lowerBound - count)..<$0.upperBound - count }
        return result
    }
}
