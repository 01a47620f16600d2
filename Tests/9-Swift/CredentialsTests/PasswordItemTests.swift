import Keychain
import KeychainTesting
import Testing

@testable import Credentials

@Suite struct PasswordItemTests {
    private func code(_ body: () throws -> Void) -> KeychainError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? KeychainError)?.code
        }
    }

    @Test func aPasswordsLife() throws {
        try withTestKeychain { _ in
            var item = PasswordItem(service: "com.example.mail", account: "ada")
            #expect(code { _ = try item.readPassword() } == .itemNotFound)
            #expect(code { try item.renameAccount("eve") } == .itemNotFound)
            #expect(item.account == "ada")
            try item.savePassword("correct horse")
            try item.savePassword("correct horse battery")
            #expect(try item.readPassword() == "correct horse battery")
            try item.renameAccount("ada@example.com")
            #expect(item.account == "ada@example.com")
            #expect(try item.readPassword() == "correct horse battery")
            #expect(
                code { _ = try PasswordItem(service: "com.example.mail", account: "ada").readPassword() }
                    == .itemNotFound)

            let other = PasswordItem(service: "com.example.mail", account: "bob")
            try other.savePassword("staple")
            #expect(code { try item.renameAccount("bob") } == .duplicateItem)
            #expect(item.account == "ada@example.com")
            try PasswordItem(service: "com.example.news", account: "ada").savePassword("x")
            #expect(try PasswordItem.passwordItems(forService: "com.example.mail") == [item, other])
            try item.deleteItem()
            try item.deleteItem()
            #expect(try PasswordItem.passwordItems(forService: "com.example.mail") == [other])
        }
    }
}
