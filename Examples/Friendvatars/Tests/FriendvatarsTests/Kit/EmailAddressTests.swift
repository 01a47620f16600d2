import FriendvatarsKit
import Testing

struct EmailAddressTests {
    // The example of Gravatar's documentation, "Creating the Hash".
    @Test func hashes() throws {
        let email = try #require(EmailAddress(" MyEmailAddress@example.com "))
        #expect(email.avatarHash(.md5) == "0bc83cb571cd1c50ba6f3e8a78ef1346")
        #expect(email.avatarHash(.sha256) == "84059b07d4be67b806386c0aad8070a23f18836bbaae342275dc0a83414c32ee")
    }

    @Test(arguments: ["Ada@Example.com", "\tada@example.com\n", "ADA@EXAMPLE.COM"])
    func sameForAllWhoMeanIt(_ typed: String) {
        #expect(EmailAddress(typed) == EmailAddress("ada@example.com"))
    }

    @Test(arguments: [
        "", "ada", "@example.com", "ada@", "ada@example", "ada@.com", "ada@example.", "ada@@example.com",
        "a b@example.com",
        "ada@exa mple.com", "ada@-example.com", "<ada@example.com>", "ada@example.com\r\nBcc: x@example.com",
        "ada@a,b.com", "ada\u{9B}@example.com", "ada\u{202E}@example.com", "ada\u{200B}@example.com",
        String(repeating: "a", count: 65) + "@example.com", "a@" + String(repeating: "b.", count: 130) + "com",
    ])
    func none(_ typed: String) {
        #expect(EmailAddress(typed) == nil)
    }

    @Test func printsNothing() throws {
        let email = try #require(EmailAddress("ada@example.com"))
        #expect(!"\(email) \(String(reflecting: email))".contains("ada"))
    }
}
