import Bytes
import Foundation
import KeychainModel
import Testing

@testable import PasswordFiles

@Suite struct PasswordCostTests {
    private func stretched(_ cost: PasswordCost, _ password: String, _ salt: String, _ count: Int) throws -> String {
        try cost.stretch(SecretBytes(password), salt: Array(salt.utf8), count: count)
            .withUnsafeBytes { $0.map { String(format: "%02x", $0) }.joined() }
    }

    /// RFC 7914, section 12.
    @Test func scrypt() throws {
        #expect(
            try stretched(.scrypt(logN: 10, blockSize: 8, parallelism: 16), "password", "NaCl", 64)
                == "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
                + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640")
        #expect(
            try stretched(.scrypt(logN: 14, blockSize: 8, parallelism: 1), "pleaseletmein", "SodiumChloride", 64)
                == "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
                + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887")
    }

    /// RFC 7914, section 11.
    @Test func pbkdf2() throws {
        #expect(
            try stretched(.pbkdf2(iterations: 1), "passwd", "salt", 64)
                == "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"
                + "49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783")
        #expect(
            try stretched(.pbkdf2(iterations: 80_000), "Password", "NaCl", 64)
                == "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56"
                + "a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d")
    }

    @Test(arguments: [
        PasswordCost.argon2id(memoryKiB: 8, passes: 1), .argon2id(memoryKiB: 1 << 20, passes: 16),
        .scrypt(logN: 1, blockSize: 1, parallelism: 1), .scrypt(logN: 20, blockSize: 8, parallelism: 16),
        .scrypt(logN: 18, blockSize: 16, parallelism: 1), .pbkdf2(iterations: 1), .pbkdf2(iterations: 50_000_000),
    ])
    func taken(_ cost: PasswordCost) { #expect(cost.isAcceptable) }

    @Test(arguments: [
        PasswordCost.argon2id(memoryKiB: 7, passes: 1), .argon2id(memoryKiB: (1 << 20) + 1, passes: 1),
        .argon2id(memoryKiB: 1 << 20, passes: 17), .argon2id(memoryKiB: 8, passes: 65),
        .argon2id(memoryKiB: .max, passes: .max), .argon2id(memoryKiB: 8, passes: 0),
        .scrypt(logN: 21, blockSize: 8, parallelism: 1), .scrypt(logN: 20, blockSize: 8, parallelism: 17),
        .scrypt(logN: 0, blockSize: 8, parallelism: 1), .scrypt(logN: 16, blockSize: 1, parallelism: 1),
        .scrypt(logN: 10, blockSize: 17, parallelism: 1), .scrypt(logN: 10, blockSize: 0, parallelism: 1),
        .scrypt(logN: .max, blockSize: .max, parallelism: .max), .scrypt(logN: 10, blockSize: 8, parallelism: 0),
        .pbkdf2(iterations: 0), .pbkdf2(iterations: 50_000_001), .pbkdf2(iterations: .max),
    ])
    func refused(_ cost: PasswordCost) throws {
        #expect(!cost.isAcceptable)
        #expect(throws: (any Error).self) { try cost.stretch(SecretBytes("x"), salt: [UInt8](repeating: 1, count: 16)) }
    }
}
