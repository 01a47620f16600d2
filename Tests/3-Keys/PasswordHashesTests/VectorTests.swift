import Bytes
import Foundation
import KeychainModel
import TestSupport
import Testing

@testable import PasswordHashes

/// Known answers from the papers, the RFCs and the functions' own authors.
@Suite struct VectorTests {
    private func matches(_ password: String, _ hash: String) throws -> Bool {
        try HashedPassword(hash).matches(SecretBytes(password))
    }

    /// The reference implementation's own tests (github.com/P-H-C/phc-winner-argon2, src/test.c).
    @Test(arguments: [
        "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
        "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
        "$argon2id$v=19$m=256,t=2,p=2$c29tZXNhbHQ$bQk8UB/VmZZF4Oo79iDXuL5/0ttZwg2f/5U52iv1cDc",
        "$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$wWKIMhR9lyDFvRz9YTZweHKfbftvj+qf+YFY4NeBbtA",
    ])
    func argon2(_ hash: String) throws {
        #expect(try matches("password", hash))
        #expect(try !matches("Password", hash))
    }

    /// Openwall's crypt_blowfish (wrapper.c).
    @Test(arguments: [
        ("U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
        ("U*U*", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK"),
        ("U*U*U", "$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a"),
    ])
    func bcrypt(_ vector: (password: String, hash: String)) throws {
        #expect(try matches(vector.password, vector.hash))
        #expect(try !matches(vector.password + "x", vector.hash))
        // As OpenBSD and PHP write the same.
        for other in ["$2b$", "$2y$"] {
            #expect(try matches(vector.password, other + vector.hash.dropFirst(4)))
        }
    }

    private func hash(_ start: String, salt: String, hex: String) throws -> String {
        let bytes = try stride(from: 0, to: hex.count, by: 2).map { place in
            try #require(UInt8(hex.dropFirst(place).prefix(2), radix: 16))
        }
        return "\(start)$\(UnpaddedBase64.standard.string(Array(salt.utf8)))$\(UnpaddedBase64.standard.string(bytes))"
    }

    /// RFC 7914, section 12.
    @Test func scrypt() throws {
        let text = try hash(
            "$scrypt$ln=10,r=8,p=16", salt: "NaCl",
            hex: "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
                + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640")
        #expect(try matches("password", text))
        #expect(try !matches("passwore", text))
        let larger = try hash(
            "$scrypt$ln=14,r=8,p=1", salt: "SodiumChloride",
            hex: "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
                + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887")
        #expect(try matches("pleaseletmein", larger))
    }

    /// RFC 7914, section 11; RFC 6070.
    @Test func pbkdf2() throws {
        let once =
            "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"
            + "49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783"
        #expect(try matches("passwd", hash("$pbkdf2-sha256$i=1", salt: "salt", hex: once)))
        #expect(try matches("passwd", hash("$pbkdf2-sha256$i=1,l=64", salt: "salt", hex: once)))
        #expect(throws: PasswordHashError.unknownFormat) {
            try matches("passwd", hash("$pbkdf2-sha256$i=1,l=63", salt: "salt", hex: once))
        }
        let often =
            "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56"
            + "a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d"
        #expect(try matches("Password", hash("$pbkdf2-sha256$80000", salt: "NaCl", hex: often)))
        #expect(try !matches("password", hash("$pbkdf2-sha256$80000", salt: "NaCl", hex: often)))
        let older = "4b007901b765489abead49d926f721d065a429c1"
        #expect(try matches("password", hash("$pbkdf2$4096", salt: "salt", hex: older)))
    }

    /// SHA-256 over `password.account.salt`, by coreutils' sha256sum.
    @Test func saltedSHA256() throws {
        let form = SaltedSHA256(salt: "x4vV8bGgqqmQwgCoyXFQj+(o.nUNQhVP7ND", separator: ".")
        let input = Data("horse.ada@example.com.\(form.salt)".utf8)
        let text = String(try ProgramStart(["sha256sum"]).run(input: input).text.prefix(64))
        let hash = try #require(SaltedSHA256.bytes(of: text))
        #expect(try form.matches(SecretBytes("horse"), account: "ada@example.com", hash: hash))
        #expect(try form.matches(SecretBytes("horse"), account: "ada@example.org", hash: hash) == false)
        #expect(try form.matches(SecretBytes("house"), account: "ada@example.com", hash: hash) == false)
        #expect(SaltedSHA256.bytes(of: text.uppercased()) == hash)
        #expect(SaltedSHA256.bytes(of: "g" + text.dropFirst()) == nil)
    }
}
