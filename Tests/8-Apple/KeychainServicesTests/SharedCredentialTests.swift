import Foundation
import KeychainServices
import Testing

@Suite struct SharedCredentialTests {
    @Test func thereIsNoStoreForThem() {
        var answers = 0
        SecAddSharedWebCredential("example.com" as CFString, "alice" as CFString, "secret" as CFString) { error in
            #expect(CFErrorGetCode(error) == Int(errSecUnimplemented))
            answers += 1
        }
        SecRequestSharedWebCredential("example.com" as CFString, nil) { credentials, error in
            #expect(CFArrayGetCount(credentials) == 0)
            #expect(CFErrorGetCode(error) == Int(errSecUnimplemented))
            #expect(CFErrorGetDomain(error) == kCFErrorDomainOSStatus)
            answers += 1
        }
        #expect(answers == 2)
    }

    @Test func passwordsHaveApplesForm() throws {
        let passwords = try (0..<200).map { _ in try #require(SecCreateSharedWebCredentialPassword() as String?) }
        #expect(Set(passwords).count == 200)
        for password in passwords {
            let groups = password.split(separator: "-", omittingEmptySubsequences: false)
            #expect(groups.map(\.count) == [3, 3, 3, 3])
            let characters = groups.joined()
            #expect(characters.contains { ("a"..."y").contains($0) } && characters.contains { $0.isUppercase })
            #expect(characters.contains { ("3"..."9").contains($0) })
            #expect(!characters.contains { "ijlzIO012".contains($0) || !$0.isASCII || !($0.isLetter || $0.isNumber) })
        }
        // Some character of each set is in the passwords, but for odds of less than 2^-60.
        #expect(Set(passwords.joined()).count == 54)
    }
}
