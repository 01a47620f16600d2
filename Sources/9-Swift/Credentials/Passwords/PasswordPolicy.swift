import Foundation

/// What new passwords have to be like: long enough, and none that others try first (NIST SP 800-63B, section 5.1.1.2).
/// There is no rule on kinds of characters, which makes passwords no better.
///
/// ```swift
/// let problems = PasswordPolicy().problems(with: typed, about: [form.email, form.name, "Friendvatars"])
/// ```
public struct PasswordPolicy: Sendable {
    /// The fewest characters.
    public var minimumLength: Int
    /// The most bytes of UTF-8.
    public var maximumSize: Int
    /// Which passwords are tried first.
    public var common: CommonPasswords

    /// A policy; see the properties.
    public init(minimumLength: Int = 8, maximumSize: Int = 1_024, common: CommonPasswords = .bundled) {
        (self.minimumLength, self.maximumSize, self.common) = (minimumLength, maximumSize, common)
    }

    /// Something that speaks against a password.
    ///
    /// Later versions may add kinds, so a `switch` needs a `default`.
    public struct Problem: Sendable, Hashable, CustomStringConvertible {
        private let name: String

        /// The name, such as `tooShort`.
        public var description: String { name }

        /// It has fewer characters than ``PasswordPolicy/minimumLength``.
        public static let tooShort = Problem(name: "tooShort")
        /// It has more bytes than ``PasswordPolicy/maximumSize``.
        public static let tooLong = Problem(name: "tooLong")
        /// It is on the list of those that are tried first, or is made of one that is by adding digits.
        public static let common = Problem(name: "common")
        /// It is one character or group of them again and again, or a run of the alphabet, of digits or of the
        /// keyboard.
        public static let pattern = Problem(name: "pattern")
        /// It is not much more than the account, the name or the service.
        public static let aboutAccount = Problem(name: "aboutAccount")
    }

    /// What speaks against a password; empty if nothing does.
    ///
    /// - Parameters:
    ///   - password: As it was typed.
    ///   - words: What others know of the account: its name, the e-mail address, the service.
    public func problems(with password: String, about words: [String] = []) -> [Problem] {
        if password.utf8.count > maximumSize { return [.tooLong] }
        var problems: [Problem] = []
        if password.count < minimumLength { problems.append(.tooShort) }
        if common.contains(password) { problems.append(.common) }
        if Self.isPattern(password) { problems.append(.pattern) }
        if isAbout(words, password) { problems.append(.aboutAccount) }
        return problems
    }

    private static let runs: [[Character]] = [
        "abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop", "yxcvbnm",
        "azertyuiop",
        "1qaz2wsx3edc4rfv5tgb6yhn7ujm",
    ].flatMap { [Array($0), Array($0.reversed())] }

    /// Whether the password is made of one group again and again, or of at most two runs.
    private static func isPattern(_ password: String) -> Bool {
        let characters = Array(password.lowercased())
        guard characters.count > 2 else { return false }
        for length in 1...min(4, characters.count / 2)
        where characters.indices.allSatisfy({ characters[$0] == characters[$0 % length] }) {
            return true
        }
        return runsNeeded(characters) <= 2
    }

    /// How many runs of at least three characters, one of them possibly cut short by the end, make up the text; more
    /// than two for none.
    private static func runsNeeded(_ characters: [Character]) -> Int {
        var (place, count) = (0, 0)
        while place < characters.count, count <= 2 {
            let longest = runs.map { run in longestPrefix(of: characters[place...], in: run) }.max() ?? 0
            guard longest >= 3 else { return .max }
            place += longest
            count += 1
        }
        return count
    }

    private static func longestPrefix(of text: ArraySlice<Character>, in run: [Character]) -> Int {
        run.indices.map { start in
            zip(text, run[start...]).prefix { $0 == $1 }.count
        }.max() ?? 0
    }

    /// Whether less than four characters remain without the words.
    private func isAbout(_ words: [String], _ password: String) -> Bool {
        let text = password.lowercased()
        let parts = words.flatMap { word in
            [word.lowercased()] + word.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
        }
        return parts.filter { $0.count >= 4 }.contains { part in
            text.contains(part) && text.count - part.count < 4
        }
    }
}
