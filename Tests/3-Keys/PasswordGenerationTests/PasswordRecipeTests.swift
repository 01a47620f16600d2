import Foundation
import PasswordGeneration
import Testing

@Suite struct PasswordRecipeTests {
    @Test func eachKindIsInIt() throws {
        for length in [4, 8, 20, 100] {
            for _ in 0..<200 {
                let password = try PasswordRecipe.characters(length).password()
                #expect(password.count == length)
                for set in ["abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"] {
                    #expect(password.contains { set.contains($0) })
                }
                #expect(password.contains { !$0.isLetter && !$0.isNumber })
                #expect(!password.contains { "\"'\\` ".contains($0) })
            }
        }
    }

    @Test func whatLooksAlikeIsLeftOut() throws {
        for _ in 0..<200 {
            let password = try PasswordRecipe.characters(40, withoutSimilar: true).password()
            #expect(!password.contains { "0O1Il|5S2Z8B".contains($0) })
        }
    }

    @Test func wordsAreOfTheList() throws {
        let password = try PasswordRecipe.words(6, separator: " ").password()
        #expect(password.split(separator: " ").count == 6)
        #expect(abs(PasswordRecipe.words(6).entropy - 77.549) < 0.001)
        let parts = try PasswordRecipe.pronounceable(5).password().split(separator: "-")
        #expect(parts.count == 5 && parts.allSatisfy { $0.count == 5 })
        #expect(PasswordRecipe.pronounceable(5).entropy == 80)
    }

    /// All passwords of a small recipe are counted, one after the other.
    @Test func theEntropyIsThatOfAllPasswords() {
        // 3 characters of digits and small letters, with one of each at least: 36³ − 26³ − 10³.
        let recipe = PasswordRecipe.characters(3, [.digits, .small])
        #expect(abs(recipe.entropy - log2(Double(36 * 36 * 36 - 26 * 26 * 26 - 10 * 10 * 10))) < 1e-9)
        #expect(abs(PasswordRecipe.characters(6, [.digits]).entropy - log2(1e6)) < 1e-9)
    }

    /// Each digit comes as often as the others: a test of the choice, which fails by chance once in 10^9 runs.
    @Test func choicesAreUniform() throws {
        var counts: [Character: Int] = [:]
        for _ in 0..<200 {
            for digit in try PasswordRecipe.characters(1_000, [.digits]).password() { counts[digit, default: 0] += 1 }
        }
        let chi = counts.values.reduce(0.0) { $0 + pow(Double($1) - 20_000, 2) / 20_000 }
        #expect(counts.count == 10 && chi < 60)
    }

    @Test func whatMakesNoPasswordIsRefused() {
        #expect(throws: PasswordRecipeError.noKind) { try PasswordRecipe.characters(8, []).password() }
        #expect(throws: PasswordRecipeError.count(4...1_024)) { try PasswordRecipe.characters(3).password() }
        #expect(throws: PasswordRecipeError.count(1...64)) { try PasswordRecipe.words(0).password() }
        #expect(PasswordRecipe.words(65).entropy == 0)
    }
}
