import Bytes
import Foundation
import TestSupport
import Testing

@testable import Broker

/// Tokens in answers, and what a program gets instead.
@Suite struct KeptTokensTests {
    /// - Returns: The answer with `<TOKEN>` for each token, and the tokens.
    private func replaced(
        _ text: String, _ names: Set<String> = ["token", "access_token"]
    ) throws -> (text: String, tokens: [String]) {
        var tokens: [String] = []
        let result = try KeptTokens.replace(in: Array(text.utf8), names) { secret in
            tokens.append(secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
            return "<TOKEN>"
        }
        return (String(decoding: result, as: UTF8.self), tokens)
    }

    @Test(arguments: [
        (#"{"token":"abcdefgh"}"#, #"{"token":"<TOKEN>"}"#, ["abcdefgh"]),
        (
            #"{"token" : "# + "\r\n\t" + #""abcdefgh" , "b": 1}"#, "{\"token\" : \r\n\t\"<TOKEN>\" , \"b\": 1}",
            ["abcdefgh"]
        ),
        (
            #"{"a":[{"token":"abcdefgh","x":"y"}],"access_token":"12345678"}"#,
            #"{"a":[{"token":"<TOKEN>","x":"y"}],"access_token":"<TOKEN>"}"#, ["abcdefgh", "12345678"]
        ),
        // The same names and texts, written in another way.
        (#"{"tok\u0065n":"abc\/\"\\\u00e9defgh"}"#, #"{"tok\u0065n":"<TOKEN>"}"#, [#"abc/"\édefgh"#]),
        // What is no text of such a member.
        (
            #"{"token":"","token":null,"token":5,"x":"abcdefgh","Token":"abcdefgh","tokens":"abcdefgh"}"#,
            #"{"token":"","token":null,"token":5,"x":"abcdefgh","Token":"abcdefgh","tokens":"abcdefgh"}"#, []
        ),
        (#"["token","abcdefgh",{"token":{"x":"abcdefgh"}}]"#, #"["token","abcdefgh",{"token":{"x":"abcdefgh"}}]"#, []),
        // What is no JSON.
        ("", "", []), ("<html>\"token\"", "<html>\"token\"", []), (#"{"token":"abcdefgh"#, #"{"token":"abcdefgh"#, []),
    ])
    func tokensAreReplaced(_ text: String, _ expected: String, _ tokens: [String]) throws {
        let result = try replaced(text)
        #expect(result.text == expected)
        #expect(result.tokens == tokens)
    }

    @Test(arguments: [
        #"{"token":"short"}"#, #"{"token":"\#(String(repeating: "x", count: 16_385))"}"#,
        #"{"token":"\ud800 is no letter"}"#, #"{"token":"abcdefgh\x"}"#,
    ])
    func tokensThatCannotBeKept(_ text: String) {
        #expect(throws: KeptTokens.Problem.self) { try replaced(text) }
    }

    @Test func whichAnswersAreRead() {
        for type in ["application/json", "Application/JSON; charset=utf-8", "application/vnd.x+json"] {
            #expect(KeptTokens.reads(type))
        }
        for type in ["text/html", "application/octet-stream", "application/jsonl", nil] {
            #expect(!KeptTokens.reads(type))
        }
    }

    /// Any JSON stays what it was but for the tokens, of which nothing remains.
    @Test func anyAnswers() throws {
        for _ in 0..<TestScale.count(500, soak: 200_000) {
            var tokens: [String] = []
            let object = Self.value(0, &tokens)
            let data = try JSONSerialization.data(
                withJSONObject: ["root": object], options: .random() ? [.prettyPrinted, .withoutEscapingSlashes] : [])
            let text = String(decoding: data, as: UTF8.self)
            let result = try replaced(text)
            #expect(Set(result.tokens) == Set(tokens), "\(text)")
            #expect(result.text.ranges(of: "<TOKEN>").count == tokens.count)
            let read = try JSONSerialization.jsonObject(with: Data(result.text.utf8)) as? [String: Any]
            #expect(
                NSDictionary(dictionary: read ?? [:]) == NSDictionary(dictionary: ["root": Self.expected(object)]),
                "\(text)")
        }
    }

    private static let letters = ["a", "Z", "\"", "\\", "/", "\n", "é", "😀", ":", "{", ",", "\u{1}", " ", "token"]

    private static func text(_ count: ClosedRange<Int>) -> String {
        (0..<Int.random(in: count)).map { _ in letters.randomElement() ?? "" }.joined()
    }

    private static func value(_ depth: Int, _ tokens: inout [String]) -> Any {
        switch Int.random(in: 0..<(depth > 3 ? 2 : 4)) {
        case 0: return text(0...12)
        case 1: return Int.random(in: -5...5)
        case 2: return (0..<Int.random(in: 0...3)).map { _ in value(depth + 1, &tokens) }
        default:
            var members: [String: Any] = [:]
            for _ in 0..<Int.random(in: 0...3) {
                let name = text(0...3)
                if name != "token", members[name] == nil { members[name] = value(depth + 1, &tokens) }
            }
            if .random() {
                let token = text(8...20)
                tokens.append(token)
                members[["token", "access_token"].randomElement() ?? ""] = token
            }
            return members
        }
    }

    private static func expected(_ value: Any) -> Any {
        if let list = value as? [Any] { return list.map(expected) }
        guard let members = value as? [String: Any] else { return value }
        return members.reduce(into: [String: Any]()) { result, member in
            let isToken = ["token", "access_token"].contains(member.key)
            result[member.key] = isToken ? "<TOKEN>" : expected(member.value)
        }
    }
}
