import Foundation
import Testing

/// A random generator that repeats its numbers with the same seed (SplitMix64), so that a failure can be repeated.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    package let seed: UInt64
    private var state: UInt64

    package init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// Uses a new seed for each run, or the one in `KEYCHAIN_TEST_SEED`.
    ///
    /// Prints the seed with the command that repeats the test, before anything can fail or crash.
    package init() {
        self.init(seed: Self.given ?? UInt64.random(in: 0 ... .max))
        guard let test = Test.current else { return }
        let name = test.name.prefix { $0 != "(" }
        let line = "seed \(seed) of \(test.name), again: KEYCHAIN_TEST_SEED=\(seed) swift test --filter '/\(name)'\n"
        FileHandle.standardError.write(Data(line.utf8))
    }

    private static let given = ProcessInfo.processInfo.environment["KEYCHAIN_TEST_SEED"].flatMap(UInt64.init)

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    package mutating func bytes(_ count: Int) -> Data {
        var bytes = Data(capacity: count + 8)
        while bytes.count < count { withUnsafeBytes(of: next()) { bytes.append(contentsOf: $0) } }
        return bytes.prefix(count)
    }

    package mutating func int(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    /// Numbers at which a conversion or a calculation often goes wrong.
    private static let edges: [Double] = [
        0, -0.0, 1, -1, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .leastNormalMagnitude, 0.5, 0x1p31, -0x1p31,
        0x1p32, 0x1p53, 0x1p63, -0x1p63, 0x1p64, 9.3e18, 1.9e19, -9.3e18, 1e300, -1e300, .greatestFiniteMagnitude,
        -.greatestFiniteMagnitude, .infinity, -.infinity, .nan, .signalingNaN,
        // The first and the last second of dates of items, and their neighbours, since 2001.
        -63_114_076_800, -63_114_076_801, 252_423_993_600, 252_423_993_599,
    ]

    /// Returns a number at an edge of those that conversions and calculations take.
    package mutating func realAtAnEdge() -> Double { Self.edges[int(below: Self.edges.count)] }

    /// Returns an integer at an edge of its own type or of a smaller one, or a neighbour.
    package mutating func integerAtAnEdge() -> Int64 {
        let edges: [Int64] = [
            0, 1, .max, .min, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFF_FFFF, 0xFFFF_FFFF, 1 << 53, 1 << 62, -0x8000_0000,
        ]
        return edges[int(below: edges.count)] &+ Int64(int(below: 3) - 1)
    }

    /// Returns `original` with flipped, overwritten, removed, added or moved bytes.
    package mutating func mutated(_ original: Data) -> Data {
        var bytes = [UInt8](original)
        for _ in 0...int(below: 3) {
            guard !bytes.isEmpty else { return self.bytes(1 + int(below: 100)) }
            let place = int(below: bytes.count)
            switch int(below: 7) {
            case 0, 1: bytes[place] ^= 1 << UInt8(int(below: 8))
            case 2: bytes[place] = [0, 1, 0x7F, 0x80, 0xFF][int(below: 5)]
            case 3: bytes.removeSubrange(place...)
            case 4: bytes.append(contentsOf: self.bytes(1 + int(below: 64)))
            case 5:
                let number = int(below: 2) == 0 ? realAtAnEdge().bitPattern : UInt64(bitPattern: integerAtAnEdge())
                let written = withUnsafeBytes(of: number.bigEndian) { Array($0) }
                bytes.replaceSubrange(place..<min(place + 8, bytes.count), with: written)
            default:
                let count = min(1 + int(below: 64), bytes.count - place)
                let source = int(below: bytes.count - count + 1)
                bytes.replaceSubrange(place..<(place + count), with: Array(bytes[source..<(source + count)]))
            }
        }
        return Data(bytes)
    }
}
