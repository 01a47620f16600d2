import Bytes
import TestSupport
import Testing

@Suite struct SecretBytesTests {
    private func secret(_ bytes: [UInt8]) throws -> SecretBytes {
        try bytes.withUnsafeBytes { try SecretBytes(copying: $0) }
    }

    /// What differs in any bit, or in length, is not equal.
    @Test func everyBitCounts() throws {
        var generator = SeededGenerator()
        for count in [1, 2, 16, 33] {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...0xFF, using: &generator) }
            let whole = try secret(bytes)
            #expect(try whole == secret(bytes))
            #expect(try whole != secret(bytes + [0]))
            #expect(try whole != secret(Array(bytes.dropLast())))
            for bit in 0..<(8 * count) {
                var changed = bytes
                changed[bit / 8] ^= 1 << UInt8(truncatingIfNeeded: bit % 8)
                #expect(try whole != secret(changed), "bit \(bit) of \(count) bytes, seed \(generator.seed)")
            }
        }
    }

    /// Equal is what has equal bytes, and nothing that has some in common.
    @Test func equalBytesAreEqual() throws {
        var generator = SeededGenerator()
        for _ in 0..<20_000 {
            let count = Int.random(in: 1...8, using: &generator)
            let (first, second) = (
                (0..<count).map { _ in UInt8.random(in: 0...3, using: &generator) },
                (0..<count).map { _ in UInt8.random(in: 0...3, using: &generator) }
            )
            let isEqual = first.withUnsafeBytes { first in second.withUnsafeBytes { isEqualInConstantTime(first, $0) } }
            #expect(isEqual == (first == second), "\(first), \(second)")
        }
    }
}
