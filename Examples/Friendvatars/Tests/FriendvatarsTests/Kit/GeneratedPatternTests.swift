import Foundation
import FriendvatarsKit
import Testing

struct GeneratedPatternTests {
    @Test func sameForAPerson() throws {
        let first = try #require(EmailAddress("ada@example.com"))
        let same = try #require(EmailAddress(" ADA@example.com"))
        #expect(GeneratedPattern(of: first) == GeneratedPattern(of: same))
        let patterns = Set((0..<100).compactMap { EmailAddress("friend\($0)@example.com") }.map(GeneratedPattern.init))
        #expect(patterns.count == 100)
    }

    @Test func mirrored() throws {
        let pattern = GeneratedPattern(of: try #require(EmailAddress("ada@example.com")))
        #expect(pattern.squares.count == 5)
        for row in pattern.squares { #expect(row == row.reversed()) }
    }

    /// All have the same lightness and saturation, 40 and 60 %.
    @Test func color() throws {
        for number in 0..<50 {
            let pattern = GeneratedPattern(of: try #require(EmailAddress("friend\(number)@example.com")))
            let (red, green, blue) = pattern.color
            let (high, low) = (max(red, green, blue), min(red, green, blue))
            // 40 % lightness, 60 % saturation.
            #expect(high == 163 && low == 41)
        }
    }
}
