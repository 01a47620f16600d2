import CommandKit
import KeychainModel

/// Which passwords have words that a person remembers, and which of them fits best.
package enum PasswordRanking {
    /// What is searched of an item.
    package struct Subject: Sendable {
        /// Without case. The most telling text comes first.
        fileprivate let texts: [[UInt8]]
        fileprivate let names: [String]

        package init(_ item: StoredItem) {
            let shown = [AttributeName.service, .server, .account, .label, .comment]
            texts =
                (shown.compactMap { item.attribute($0).map { AttributeText($0).plain } }
                + item.customAttributes.flatMap { [$0.key, $0.value] }).map(PasswordRanking.folded)
            names = [item.names.name?.plain ?? "", item.names.account?.plain ?? ""]
        }
    }

    /// Returns the places of the subjects that have all of the words, the best fit first. If none has them, a word may
    /// leave out letters.
    package static func order(_ subjects: [Subject], _ words: [String]) -> [Int] {
        let words = words.map(folded)
        let found = ranked(subjects, words, rankOfPart)
        return found.isEmpty ? ranked(subjects, words, rankOfLetters) : found
    }

    private static func folded(_ text: String) -> [UInt8] { Array(text.lowercased().utf8) }

    private static func ranked(
        _ subjects: [Subject], _ words: [[UInt8]], _ rank: ([UInt8], [UInt8]) -> Int?
    ) -> [Int] {
        let ranked = subjects.enumerated().compactMap { index, subject -> (rank: Int, index: Int)? in
            var sum = 0
            for word in words {
                // The place in the list counts too: a name says more than a remark.
                let best = subject.texts.enumerated().compactMap { place, text in rank(word, text).map { $0 + place } }
                    .min()
                guard let best else { return nil }
                sum += best
            }
            return (sum, index)
        }
        return ranked.sorted { first, second in
            first.rank != second.rank
                ? first.rank < second.rank
                : subjects[first.index].names.lexicographicallyPrecedes(subjects[second.index].names)
        }.map(\.index)
    }

    /// 0 for the whole text, more for a beginning, and most for a part inside of it; nil without it.
    private static func rankOfPart(_ word: [UInt8], _ text: [UInt8]) -> Int? {
        if word == text { return 0 }
        if text.starts(with: word) { return 10 }
        guard word.count <= text.count else { return nil }
        return text.indices.dropLast(max(0, word.count - 1)).contains { text[$0...].starts(with: word) } ? 20 : nil
    }

    /// By how many letters between its own a word is spread; nil if the text does not have all in this order.
    private static func rankOfLetters(_ word: [UInt8], _ text: [UInt8]) -> Int? {
        var (rest, first, last) = (word[...], Int?.none, 0)
        for (place, byte) in text.enumerated() where byte == rest.first {
            rest = rest.dropFirst()
            first = first ?? place
            last = place
        }
        guard rest.isEmpty, let first, last - first < 2 * word.count + 4 else { return nil }
        return 30 + last - first - word.count
    }
}
