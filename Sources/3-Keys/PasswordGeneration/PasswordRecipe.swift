import Bytes
import CLibrary

/// How a password is made up.
///
/// ```swift
/// let recipe = PasswordRecipe.words(6)
/// let password = try recipe.password()  // such as "unified-sprout-caviar-mossy-tightly-overlap"
/// print("\(recipe.entropy) bits")  // 77.5
/// ```
///
/// Each choice is uniform, from the kernel's random numbers (getrandom(2)).
public enum PasswordRecipe: Sendable, Hashable {
    /// `count` characters, 1 to 1,024, with at least one of each of these kinds.
    case characters(_ count: Int = 20, _ kinds: Set<Kind> = Set(Kind.allCases), withoutSimilar: Bool = false)
    /// `count` words, 1 to 64, of a list of 7,776 English ones.
    case words(_ count: Int = 6, separator: String = "-")
    /// `count` groups, 1 to 64, of five letters that can be spoken, consonants and vowels in turn (proquints,
    /// arXiv:0901.4016): 16 bits each.
    case pronounceable(_ count: Int = 5)

    /// A kind of characters.
    public enum Kind: String, Sendable, CaseIterable {
        case small, capitals, digits
        /// What is printable in ASCII and neither letter, digit nor space, without quotes and backslash, which shells
        /// and configuration files take for something else.
        case symbols

        fileprivate var characters: String {
            switch self {
            case .small: "abcdefghijklmnopqrstuvwxyz"
            case .capitals: "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
            case .digits: "0123456789"
            case .symbols: "!#$%&()*+,-./:;<=>?@[]^_{|}~"
            }
        }
    }

    /// What people take for one another when they copy a password by hand.
    private static let similar = Set("0O1Il|5S2Z8B")

    private static func characters(_ kind: Kind, _ withoutSimilar: Bool) -> [Character] {
        withoutSimilar ? kind.characters.filter { !similar.contains($0) } : Array(kind.characters)
    }

    /// - Throws: ``PasswordRecipeError`` for a recipe that makes no password.
    public func password() throws(PasswordRecipeError) -> String {
        try check()
        var random = SystemRandomNumberGenerator()
        switch self {
        case .characters(let count, let kinds, let withoutSimilar):
            let sets = kinds.sorted { $0.rawValue < $1.rawValue }.map { Self.characters($0, withoutSimilar) }
            let all = sets.flatMap(\.self)
            // Passwords that lack a kind are thrown away, so that all others are equally likely.
            while true {
                let password = (0..<count).compactMap { _ in all.randomElement(using: &random) }
                if sets.allSatisfy({ set in password.contains { set.contains($0) } }) { return String(password) }
            }
        case .words(let count, let separator):
            return (0..<count).compactMap { _ in WordList.words.randomElement(using: &random) }
                .joined(separator: separator)
        case .pronounceable(let count):
            return (0..<count).map { _ in Self.spoken(.random(in: 0 ... .max, using: &random)) }.joined(separator: "-")
        }
    }

    private func check() throws(PasswordRecipeError) {
        switch self {
        case .characters(let count, let kinds, _):
            guard !kinds.isEmpty else { throw .noKind }
            guard (kinds.count...1_024).contains(count) else { throw .count(kinds.count...1_024) }
        case .words(let count, _), .pronounceable(let count):
            guard (1...64).contains(count) else { throw .count(1...64) }
        }
    }

    private static let consonants = Array("bdfghjklmnprstvz")
    private static let vowels = Array("aiou")

    private static func spoken(_ number: UInt16) -> String {
        let number = Int(number)
        return String([
            consonants[number >> 12], vowels[number >> 10 & 3], consonants[number >> 6 & 15], vowels[number >> 4 & 3],
            consonants[number & 15],
        ])
    }

    /// The logarithm to base 2 of how many passwords the recipe makes, all equally likely; 0 for one that makes none.
    public var entropy: Double {
        guard (try? check()) != nil else { return 0 }
        switch self {
        case .characters(let count, let kinds, let withoutSimilar):
            let sizes = kinds.map { Self.characters($0, withoutSimilar).count }
            let all = sizes.reduce(0, +)
            // How many of all strings have each kind, by inclusion and exclusion over the kinds that they lack.
            let part = (0..<1 << sizes.count).reduce(0.0) { sum, lacking in
                let size = sizes.indices.reduce(0) { lacking >> $1 & 1 == 1 ? $0 + sizes[$1] : $0 }
                let sign = lacking.nonzeroBitCount.isMultiple(of: 2) ? 1.0 : -1.0
                return sum + sign * pow(Double(all - size) / Double(all), Double(count))
            }
            return Double(count) * log2(Double(all)) + log2(part)
        case .words(let count, _): return Double(count) * log2(Double(WordList.words.count))
        case .pronounceable(let count): return Double(count) * 16
        }
    }
}

/// Why a recipe makes no password.
public enum PasswordRecipeError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Characters of no kind.
    case noKind
    /// The number of characters, words or groups is outside of this range.
    case count(ClosedRange<Int>)

    public var description: String {
        switch self {
        case .noKind: "a password needs at least one kind of characters"
        case .count(let range): "a password of this kind has \(range.lowerBound) to \(range.upperBound) parts"
        }
    }
}
