import Foundation
import TestSupport
import Testing

@testable import PasswordGeneration

/// Bytes as words, and back.
@Suite struct WordCodeTests {
    @Test func everyWordComesBack() throws {
        var random = SeededGenerator()
        for word in WordList.words where word.contains("-") || Int.random(in: 0..<100, using: &random) == 0 {
            let others = (0..<2).map { _ in String(WordList.words.randomElement(using: &random) ?? "") }
            let all = [others[0], String(word), others[1]]
            for separator in [" ", "-", ", ", "\n"] {
                #expect(WordCode.split(all.joined(separator: separator)) == all)
            }
        }
    }

    @Test func bytesComeBack() {
        var random = SeededGenerator()
        for _ in 0..<TestScale.count(200, soak: 20_000) {
            let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
            let text = WordCode.words(for: bytes).joined(separator: Bool.random(using: &random) ? " " : "-")
            #expect(WordCode.bytes(of: WordCode.split(text.uppercased()), count: 16) == bytes)
        }
    }
}
