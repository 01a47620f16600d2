import Bytes
import Foundation
import TestSupport
import Testing

@testable import Broker

/// What is masked in answers, and what placeholders look like.
@Suite struct SecretFormsTests {
    /// Foundation's encoders are the independent ones.
    private static func encodings(_ secret: String, before: String, after: String) throws -> [String] {
        let all = before + secret + after
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-._~")
        let ascii = CharacterSet(charactersIn: UnicodeScalar(0)..<UnicodeScalar(128))
        let json = String(decoding: try JSONEncoder().encode([all]), as: UTF8.self)
        let base64 = Data(all.utf8).base64EncodedString()
        return [
            all, base64, base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: ""), json,
            all.addingPercentEncoding(withAllowedCharacters: allowed.intersection(ascii)) ?? "",
        ]
    }

    private static func masked(_ text: String, _ secret: String, piece: Int) throws -> String {
        var mask = OutputMask(try SecretForms.masked(SecretBytes(secret)), keepsLength: true)
        var result: [UInt8] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: piece) {
            let part = Array(bytes[start..<min(start + piece, bytes.count)])
            result += part.withUnsafeBytes { mask.take($0) }
        }
        result += mask.finish()
        #expect(result.count == bytes.count)
        return String(decoding: result, as: UTF8.self)
    }

    /// In each encoding, at each place, in pieces of each size: of the secret at most its ends are left.
    @Test(arguments: ["ghp_abcdefghijklmnopqrstuvwxyz0123456789", #"p/ä ss"w+rd\%"#, "short-one"])
    func encodedSecretsAreMasked(_ secret: String) throws {
        for before in ["", "a", "ab", "alice:"] {
            for after in ["", "z", "\", \"next\": 1"] {
                for text in try Self.encodings(secret, before: before, after: after) {
                    for piece in [1, 2, 3, 7, 1_000] {
                        let result = try Self.masked(text, secret, piece: piece)
                        #expect(
                            Self.longestCommonPart(result, text) < 4 + before.utf8.count * 3 + after.utf8.count * 3 + 8)
                        #expect(result.contains("*"), "\(text)")
                        #expect(!result.contains(secret))
                    }
                }
            }
        }
    }

    private static func longestCommonPart(_ result: String, _ text: String) -> Int {
        var (longest, current) = (0, 0)
        for (first, second) in zip(result.utf8, text.utf8) {
            current = first == second ? current + 1 : 0
            longest = max(longest, current)
        }
        return longest
    }

    /// A server may shorten what it repeats, and an answer may end within it.
    @Test func partsAreMasked() throws {
        let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
        let shortened = try Self.masked("invalid key \(secret.prefix(30))…", secret, piece: 7)
        #expect(shortened == "invalid key \(String(repeating: "*", count: 30))…")
        let cut = try Self.masked("invalid key \(secret.prefix(9))", secret, piece: 7)
        #expect(cut == "invalid key *********")
        #expect(try Self.masked("ghp_abc and ghp", secret, piece: 3) == "ghp_abc and ghp")
    }

    @Test func otherBytesStay() throws {
        let text = "a perfectly normal answer with base64 like c29tZXRoaW5n and %20"
        #expect(try Self.masked(text, "ghp_abcdefghijklmnopqrstuvwxyz0123456789", piece: 5) == text)
    }

    @Test func placeholdersHaveTheShape() throws {
        let token = "ghp_abcdefghijklmnopqrstuvwxyzABCD012345"
        let made = Placeholder.make(for: try SecretBytes(token))
        #expect(made.hasPrefix("ghp_"))
        #expect(made.utf8.count == token.utf8.count)
        #expect(made != token)
        #expect(Placeholder.make(for: try SecretBytes(token)) != made)
        let hexadecimal = Placeholder.make(for: try SecretBytes(String(repeating: "0a", count: 20)))
        #expect(hexadecimal.utf8.count == 40)
        #expect(hexadecimal.allSatisfy { "0123456789abcdef".contains($0) })
    }

    /// The placeholder of a password that a person made up says nothing about it.
    @Test(arguments: [
        "hunter2", "correct horse battery staple", "Tr0ub4dor&3", "my-dog", "correct-horse-battery-staple",
        "päßwort-mit-umlauten-und-länge",
    ])
    func placeholdersOfPasswords(_ password: String) throws {
        let made = Placeholder.make(for: try SecretBytes(password))
        #expect(made.utf8.count == 32)
        #expect(made.utf8.allSatisfy { ($0 >= 0x30 && $0 <= 0x39) || ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A) })
    }
}
