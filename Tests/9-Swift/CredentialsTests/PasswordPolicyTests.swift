import Foundation
import TestSupport
import Testing

@testable import Credentials

@Suite struct PasswordPolicyTests {
    private let policy = PasswordPolicy()

    @Test(arguments: [
        "correct hippo stapler", "yd7#kQ2!", "Donaudampfschiff", "пароль-на-море", "tr0ub4dor-and-3", "xylophon",
        "🦊🦊🐙🐙🦑🦑🦀🐡",
    ])
    func goodOnes(_ password: String) {
        #expect(policy.problems(with: password, about: ["ada@example.com", "Ada Lovelace"]) == [])
    }

    @Test(arguments: [
        ("", [PasswordPolicy.Problem.tooShort]), ("xk4!q", [.tooShort]), ("Password", [.common]),
        ("password2026!", [.common]),
        ("!!dragon99", [.common]), ("sunshine", [.common]), ("aaaaaaaaaa", [.pattern]), ("xyxyxyxyxy", [.pattern]),
        ("abcdefgh", [.pattern]), ("98765432", [.pattern]), ("fghjkl345", [.pattern]),
        ("ada@example.com", [.aboutAccount]),
        ("lovelace7", [.aboutAccount]), ("Lovelace123", [.aboutAccount]),
    ])
    func badOnes(_ example: (password: String, problems: [PasswordPolicy.Problem])) {
        let found = policy.problems(with: example.password, about: ["ada@example.com", "Ada Lovelace"])
        #expect(found == example.problems, "\(example.password)")
    }

    @Test func theLongestIsLookedAtAtOnce() {
        #expect(policy.problems(with: String(repeating: "ab1", count: 1_000_000)) == [.tooLong])
        #expect(policy.problems(with: String(repeating: "k7", count: 512)) == [.pattern])
    }

    @Test func listsOfOnesOwn() throws {
        let folder = try TemporaryFolder()
        let file = URL(filePath: folder.path(of: "list"))
        try Data("Tschüss-Welt\r\nzweite Zeile\n\n".utf8).write(to: file)
        let list = try CommonPasswords(contentsOf: file)
        #expect(list.count == 2)
        #expect(list.contains("tschüss-welt") && list.contains("Zweite Zeile") && !list.contains("password"))
        #expect(throws: CredentialsError(.file, message: "")) {
            _ = try CommonPasswords(contentsOf: URL(filePath: folder.path(of: "none")))
        }
        try Data([0xFF, 0xFE, 0x41]).write(to: file)
        #expect(throws: CredentialsError(.file, message: "")) { _ = try CommonPasswords(contentsOf: file) }
        #expect(CommonPasswords.bundled.count > 400)
    }
}
