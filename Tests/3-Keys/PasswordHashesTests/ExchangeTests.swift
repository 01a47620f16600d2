import Bytes
import Foundation
import KeychainModel
import TestSupport
import Testing

@testable import PasswordHashes

/// Strings go back and forth between this module and Python's argon2-cffi, bcrypt and passlib.
@Suite struct ExchangeTests {
    /// Debian's, which has Debian's modules.
    private static let peer = Result {
        try PythonPeer(
            URL(filePath: #filePath).deletingLastPathComponent().appendingPathComponent("Peer/password_hashes.py").path,
            interpreter: "/usr/bin/python3")
    }

    private func peer(_ arguments: [String]) throws -> String {
        let text = try Self.peer.get().ask(arguments)
        return try #require(text.split(separator: "\n").last.map(String.init))
    }

    private func hexadecimal(_ text: String) -> String {
        text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test(arguments: [
        ["argon2id", "64", "2", "1"], ["argon2id", "65536", "3", "4"], ["argon2i", "1024", "3", "2"], ["bcrypt", "5"],
        ["scrypt", "10", "1"], ["scrypt", "8", "3"], ["scrypt", "16", "1"], ["scrypt", "8", "1", "32"],
        ["pbkdf2-sha1", "1000"],
        ["pbkdf2-sha256", "1000"],
        ["pbkdf2-sha512", "1000"], ["django", "1000"],
    ])
    func theirs(_ scheme: [String]) throws {
        for password in ["correct horse", "ein Paßwort \u{1F511}", String(repeating: "long", count: 17)] {
            let text = try peer(["make", scheme[0], hexadecimal(password)] + scheme.dropFirst())
            let hash = try HashedPassword(text)
            #expect(try hash.matches(SecretBytes(password)), "\(text)")
            #expect(try !hash.matches(SecretBytes(password.dropLast() + "?")), "\(text)")
            #expect(try !hash.matches(SecretBytes("")), "\(text)")
            #expect(!hash.isAtLeast(Argon2Cost(memoryKiB: 1 << 20, passes: 3), keyID: nil))
        }
    }

    @Test(arguments: [Argon2Cost(memoryKiB: 8, passes: 1), Argon2Cost(memoryKiB: 19 << 10, passes: 2)])
    func ours(_ cost: Argon2Cost) throws {
        for password in ["", "correct horse", "ein Paßwort \u{1F511}"] {
            let text = try HashedPassword.make(SecretBytes(password), cost: cost)
            #expect(try peer(["check", hexadecimal(password), text]) == "yes")
            #expect(try peer(["check", hexadecimal(password + "x"), text]) == "no")
        }
    }
}
