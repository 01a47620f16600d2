import Bytes
import CLibrary

/// How long an attacker tries all secrets of the same length and the same kinds of characters, or all of as many words,
/// counted as Documentation/Security/Passcode.md counts: one graphics card makes 1,000 guesses in a second, each
/// of which goes over 256 MiB twice.
package struct GuessingTime {
    private let seconds: Double
    /// How many words an attacker tries for each: those of the lists that people throw dice for (EFF's long list).
    private static let listedWords = 7_776.0

    /// - Parameters:
    ///   - memory: What a guess takes in MiB.
    ///   - passes: How often it goes over that memory.
    package init(_ secret: SecretBytes, memory: Int = 256, passes: Int = 2) {
        // Kinds of characters, and how many there are of each: ASCII prints 95, and UTF-8 needs bytes from 128 on.
        let kinds: [(range: (UInt8) -> Bool, count: Double)] = [
            ({ (48...57).contains($0) }, 10), ({ (65...90).contains($0) }, 26), ({ (97...122).contains($0) }, 26),
            ({ $0 >= 128 }, 128),
            ({ $0 < 128 && !((48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)) }, 33),
        ]
        seconds = secret.withUnsafeBytes { bytes in
            let characters = kinds.reduce(0) { $0 + (bytes.contains(where: $1.range) ? $1.count : 0) }
            let guesses = min(pow(characters, Double(bytes.count)), Self.guesses(ofWords: bytes))
            return guesses * Double(memory * passes) / 512 / 1_000
        }
    }

    /// How many texts of as many words there are; more than can be counted if it is not words alone.
    private static func guesses(ofWords bytes: UnsafeRawBufferPointer) -> Double {
        let words = bytes.split(omittingEmptySubsequences: true) { [32, 45, 46, 95].contains($0) }
        let isWords = words.allSatisfy { $0.allSatisfy { (65...90).contains($0) || (97...122).contains($0) } }
        return isWords && words.count > 1 ? pow(listedWords, Double(words.count)) : .infinity
    }

    package var words: String {
        let units: [(name: String, seconds: Double)] = [
            ("year", 31_557_600), ("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1),
        ]
        guard let unit = units.first(where: { seconds >= $0.seconds }) else { return "less than a second" }
        let count = seconds / unit.seconds
        guard count < 1_000_000 else { return "more than a million years" }
        return "\(Int(clamping: count)) \(unit.name)\(Int(clamping: count) == 1 ? "" : "s")"
    }
}

extension GuessingTime {
    /// Whether the secret is weak. What a person makes up falls much sooner than all secrets of its kind, so that there
    /// has to be room: ten thousand years.
    package var isWeak: Bool { seconds < 10_000 * 31_557_600 }

    /// Tells a person what the secret is worth.
    ///
    /// - Parameters:
    ///   - secret: What the secret is called, as in "passcode".
    ///   - files: What an attacker has to have, as in "the file".
    ///   - loss: What holds if the secret is forgotten; nil if something else opens it then.
    package func show(_ secret: String, with files: String, ifForgotten loss: String?) {
        CommandNote.show(sentence(secret, with: files) + (loss.map { ". \($0)" } ?? ""))
    }

    /// What the secret is worth.
    package func sentence(_ secret: String, with files: String) -> String {
        let time = seconds < 1 ? words : "at most \(words)"
        let worth = isWeak ? "weak: who has \(files) guesses it in \(time); use five or more words" : "strong"
        return "the \(secret) is \(worth)"
    }
}
