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

    private static func masked(_ text: String, _ mask: AnswerMask, piece: Int) -> String {
        String(decoding: masked(Array(text.utf8), mask, piece: piece), as: UTF8.self)
    }

    private static func masked(_ bytes: [UInt8], _ mask: AnswerMask, piece: Int) -> [UInt8] {
        var (mask, result): (AnswerMask, [UInt8]) = (mask, [])
        for start in stride(from: 0, to: bytes.count, by: piece) {
            let part = Array(bytes[start..<min(start + piece, bytes.count)])
            result += part.withUnsafeBytes { mask.take($0) }
        }
        result += mask.finish()
        #expect(result.count == bytes.count)
        return result
    }

    private static func mask(_ secret: String) throws -> AnswerMask { try AnswerMask([SecretBytes(secret)]) }

    /// In each encoding, at each place, in pieces of each size: of the secret at most its ends are left.
    @Test(arguments: ["ghp_abcdefghijklmnopqrstuvwxyz0123456789", #"p/ä ss"w+rd\%"#, "short-one"])
    func encodedSecretsAreMasked(_ secret: String) throws {
        let mask = try Self.mask(secret)
        for before in ["", "a", "ab", "alice:"] {
            for after in ["", "z", "\", \"next\": 1"] {
                for text in try Self.encodings(secret, before: before, after: after) {
                    for piece in [1, 2, 3, 7, 1_000] {
                        let result = Self.masked(text, mask, piece: piece)
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

    /// Each character in an escape of its own, as a server may write it.
    private static func escaped(_ text: String, _ random: inout SeededGenerator) -> String {
        text.unicodeScalars.map { scalar in
            let number = String(scalar.value, radix: 16)
            let unit = String(repeating: "0", count: 4 - number.count) + number
            switch Int.random(in: 0..<9, using: &random) {
            case 0: return String(scalar).utf8.map { "%" + Data([$0]).hexadecimal() }.joined()
            case 1: return String(scalar).utf8.map { "%" + Data([$0]).hexadecimal().uppercased() }.joined()
            case 2: return "\\u" + unit
            case 3: return "&#\(scalar.value);"
            case 4: return "&#x\(number);"
            case 5: return "%u" + unit
            case 6 where CharacterSet.punctuationCharacters.contains(scalar) && scalar.isASCII: return "\\\(scalar)"
            case 7: return "\\u{\(number)}"
            default: return "\\%&".unicodeScalars.contains(scalar) ? "\\u" + unit : String(scalar)
            }
        }.joined()
    }

    private static let someSecrets = [
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "a&b<c>d\"e'f=g+h/i", "päßwort ist geheim",
        "back\\slash and 100%41",
    ]

    /// All kinds of escapes mixed, up to three times over each other, in pieces of any size.
    @Test(arguments: someSecrets) func mixedEscapesAreUndone(_ secret: String) throws {
        let mask = try Self.mask(secret)
        var random = SeededGenerator()
        for _ in 0..<TestScale.count(12, soak: 2_000) {
            var inner = secret
            for _ in 0..<Int.random(in: 1...3, using: &random) { inner = Self.escaped(inner, &random) }
            let text = "{\"before\": \"\(inner)\", \"after\": 1}"
            let whole = Self.masked(text, mask, piece: 100_000)
            #expect(
                whole == "{\"before\": \"\(String(repeating: "*", count: inner.utf8.count))\", \"after\": 1}", "\(text)"
            )
            for piece in [1, Int.random(in: 2...40, using: &random)] {
                #expect(Self.masked(text, mask, piece: piece) == whole, "\(text), pieces of \(piece)")
            }
        }
    }

    /// What is no escape, and what only begins one, stays, however the answer is cut.
    @Test func whatIsNoEscapeStays() throws {
        let mask = try Self.mask(Self.someSecrets[0])
        var random = SeededGenerator()
        let parts = [
            "%", "%4", "\\", "\\u00", "\\ud83d", "&", "&am", "&#", "&#x", "g", "gh", "ghp", "a", " ", "\n", "é", "%%",
        ]
        for _ in 0..<TestScale.count(300, soak: 50_000) {
            let text = (0..<Int.random(in: 1...30, using: &random)).map { _ in parts.randomElement(using: &random) ?? ""
            }
            .joined()
            for piece in [1, 3, 1_000] {
                #expect(Self.masked(text, mask, piece: piece) == text, "\(text)")
            }
        }
    }

    /// What may begin a secret is not kept for as long as white space follows.
    @Test func spaceHasAnEnd() throws {
        var mask = try Self.mask(Self.someSecrets[0])
        let text = Array("g".utf8) + [UInt8](repeating: 0x20, count: 1_000)
        #expect(text.withUnsafeBytes { mask.take($0) }.count == text.count)
        let long = Array("g".utf8) + [UInt8](repeating: 0, count: 4 << 20)
        let begin = ContinuousClock.now
        #expect(Self.masked(long, mask, piece: 1 << 16) == long)
        #expect(ContinuousClock.now - begin < .seconds(60))
    }

    /// In lines, in UTF-16, in hexadecimal digits, in another character set.
    @Test(arguments: someSecrets) func otherFormsAreMasked(_ secret: String) throws {
        let mask = try Self.mask(secret)
        let bytes = Data(secret.utf8)
        let lines = Data(("user:" + secret + String(repeating: " and more", count: 20)).utf8)
        var forms: [(text: Data, left: Int)] = [
            (Data(bytes.hexadecimal().utf8), 0), (Data(bytes.hexadecimal().uppercased().utf8), 0),
            (Data(secret.uppercased().utf8), secret.contains("ß") ? 99 : 0),
            (Data(secret.replacing(" ", with: "+").utf8), 0),
        ]
        for line in [8, 60, 76] {
            let encoded = lines.base64EncodedString()
            var text = ""
            for (number, character) in encoded.enumerated() {
                if number % line == 0, number > 0 { text += "\r\n  " }
                text.append(character)
            }
            // Some that is before the secret, and all that follows it.
            forms.append((Data(text.utf8), text.utf8.count - secret.utf8.count * 4 / 3 + 4))
        }
        for encoding in [String.Encoding.utf16LittleEndian, .utf16BigEndian, .isoLatin1] {
            forms.append((try #require(secret.data(using: encoding)), encoding == .isoLatin1 ? 0 : 2))
        }
        let misread = try #require(String(data: bytes, encoding: .isoLatin1))
        forms.append((Data(misread.utf8), 0))
        for (form, left) in forms where left < 99 || form.count > 99 {
            for piece in [1, 7, 10_000] {
                let text = Array(Data("before ".utf8) + form + Data(" after".utf8))
                let result = Self.masked(text, mask, piece: piece)
                let same = zip(result, text).count { $0 == $1 && $0 != 0x2A }
                #expect(same <= left + 13, "\(String(decoding: form, as: UTF8.self)) in pieces of \(piece): \(same)")
            }
        }
    }

    /// A server may shorten what it repeats, and an answer may end within it.
    @Test func partsAreMasked() throws {
        let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
        let mask = try Self.mask(secret)
        let shortened = Self.masked("invalid key \(secret.prefix(30))…", mask, piece: 7)
        #expect(shortened == "invalid key \(String(repeating: "*", count: 30))…")
        let cut = Self.masked("invalid key \(secret.prefix(9))", mask, piece: 7)
        #expect(cut == "invalid key *********")
        #expect(Self.masked("ghp_abc and ghp", mask, piece: 3) == "ghp_abc and ghp")
    }

    @Test func otherBytesStay() throws {
        let text = "a perfectly normal answer with base64 like c29tZXRoaW5n and %20"
        #expect(try Self.masked(text, Self.mask("ghp_abcdefghijklmnopqrstuvwxyz0123456789"), piece: 5) == text)
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
