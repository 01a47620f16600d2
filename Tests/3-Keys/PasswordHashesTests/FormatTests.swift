import Bytes
import Foundation
import KeychainModel
import TestSupport
import Testing

@testable import PasswordHashes

/// What is a hash and what is none.
@Suite struct FormatTests {
    private static let whole = "$argon2id$v=19$m=64,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"

    private func failure(_ text: String) -> PasswordHashError? {
        do throws(PasswordHashError) {
            _ = try HashedPassword(text)
            return nil
        } catch {
            return error
        }
    }

    @Test func stringsComeBack() throws {
        let phc = try #require(PHCString(Self.whole))
        #expect(phc.text == Self.whole)
        #expect(phc.identifier == "argon2id" && phc.version == 19 && phc.number("m") == 64 && phc["x"] == nil)
    }

    @Test(arguments: [
        "", "$", "$$$$$", "argon2id", "$argon2id", "$argon2id$v=19$m=64,t=2,p=1$c29tZXNhbHQ",
        "$argon2id$v=16$m=64,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
        "$argon2d$v=19$m=64,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
        "$argon2id$v=19$m=064,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
        "$argon2id$v=19$t=2,m=64,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
        "$argon2id$v=19$m=64,t=2,p=1,q=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
        "$argon2id$v=19$m=64,m=64,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
        "$argon2id$v=19$m=7,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
        "$argon2id$v=19$m=64,t=2,p=1$c29tZXNhbHQ=$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
        "$argon2id$v=19$m=64,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPd",
        "$2a$03$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
        "$2x$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
        "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOe$",
        "$scrypt$ln=0,r=8,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
        "$pbkdf2-sha256$i=1000,keyid=x$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
        "$pbkdf2-md5$1000$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
        "$pbkdf2-sha256$0$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
        "pbkdf2_sha256$1000$salt", "5f4dcc3b5aa765d61d8327deb882cf99",
    ])
    func noHashes(_ text: String) {
        #expect(failure(text) == .unknownFormat)
    }

    @Test(arguments: [
        "$argon2id$v=19$m=2097153,t=1,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
        "$argon2id$v=19$m=64,t=65,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
        "$argon2id$v=19$m=4096,t=2,p=256$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
        "$2a$31$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
        "$argon2id$v=19$m=1048576,t=17,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
        "$scrypt$ln=1,r=4194304,p=16$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
        "$scrypt$ln=30,r=8,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
        "$scrypt$ln=60,r=4294967295,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
        "$pbkdf2-sha256$4294967295$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
    ])
    func hashesThatWouldTakeTheMachine(_ text: String) {
        #expect(failure(text) == .tooExpensive)
    }

    @Test func keysHaveTheirPlace() throws {
        let text = try HashedPassword.make(SecretBytes("a"), cost: Argon2Cost(memoryKiB: 8, passes: 1), keyID: "abc/+")
        let hash = try HashedPassword(text)
        #expect(text.contains("$m=8,t=1,p=1,keyid=abc/+$"))
        #expect(hash.keyID == "abc/+")
        #expect(try hash.matches(SecretBytes("a")))
        #expect(hash.isAtLeast(Argon2Cost(memoryKiB: 8, passes: 1), keyID: "abc/+"))
        #expect(!hash.isAtLeast(Argon2Cost(memoryKiB: 8, passes: 1), keyID: nil))
        #expect(!hash.isAtLeast(Argon2Cost(memoryKiB: 9, passes: 1), keyID: "abc/+"))
    }

    /// What older functions wrote into bits of the salt that do not count.
    @Test func saltsWithMoreBits() throws {
        let hash = try HashedPassword("$2a$05$CCCCCCCCCCCCCCCCCCCCC/E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW")
        #expect(try hash.matches(SecretBytes("U*U")))
        #expect(try !hash.matches(SecretBytes("U*V")))
    }

    /// A zero is no end of a password.
    @Test func zerosCount() throws {
        let hash = try HashedPassword("$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW")
        #expect(try hash.matches(SecretBytes("U*U")))
        #expect(try !hash.matches(SecretBytes("U*U\0")))
        #expect(try !hash.matches(SecretBytes("U*U\0x")))
    }

    @Test func decoysMatchNothing() throws {
        let decoy = try HashedPassword.decoy(cost: Argon2Cost(memoryKiB: 8, passes: 1), keyID: "k")
        #expect(decoy.keyID == "k")
        #expect(try !decoy.matches(SecretBytes("")))
    }

    /// Damaged text is refused or read as another hash, and crashes nothing.
    @Test func damagedHashes() throws {
        let texts = [
            Self.whole, "$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
            "$scrypt$ln=4,r=8,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
            "$pbkdf2-sha256$10$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
            "pbkdf2_sha256$10$salt$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc=",
        ]
        var generator = SeededGenerator()
        var refused = 0
        for round in 0..<TestScale.count(2_000, soak: 100_000) {
            var bytes = Array(texts[round % texts.count].utf8)
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                switch Int.random(in: 0..<3, using: &generator) {
                case 0 where !bytes.isEmpty:
                    bytes.remove(at: Int.random(in: 0..<bytes.count, using: &generator))
                case 1:
                    bytes.insert(
                        UInt8.random(in: 0x20...0x7E, using: &generator),
                        at: Int.random(in: 0...bytes.count, using: &generator))
                default:
                    guard !bytes.isEmpty else { break }
                    bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...0xFF, using: &generator)
                }
            }
            if failure(String(decoding: bytes, as: UTF8.self)) != nil { refused += 1 }
        }
        #expect(refused > 0)
    }
}
