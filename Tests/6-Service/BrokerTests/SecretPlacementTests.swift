import Bytes
import Foundation
import TestSupport
import Testing

@testable import Broker

/// Where secrets go in a request, and where placeholders stay.
@Suite struct SecretPlacementTests {
    private let placeholder = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    private let secret = #"p/ä ss"w+rd\%"#

    private func placement(_ places: Set<SecretPlace>, hasValue: Bool = true) throws -> SecretPlacement {
        SecretPlacement([
            .init(number: 7, placeholder: placeholder, places: places, value: hasValue ? try SecretBytes(secret) : nil)
        ])
    }

    @Test func headers() throws {
        var placement = try placement([.authorization, .header("x-key")])
        #expect(placement.header("authorization", "Bearer \(placeholder)") == "Bearer \(secret)")
        #expect(placement.header("x-key", placeholder) == secret)
        #expect(placement.wanted == [7])
        #expect(placement.strays.isEmpty)
        #expect(placement.header("x-other", placeholder) == placeholder)
        #expect(placement.strays.map(\.place) == [.header("x-other")])
    }

    @Test(arguments: ["alice:PLACE", "PLACE:", "PLACE:PLACE", ":PLACE"])
    func basic(_ form: String) throws {
        var placement = try placement([.authorization])
        let sent = "Basic " + Data(form.replacing("PLACE", with: placeholder).utf8).base64EncodedString()
        let expected = "Basic " + Data(form.replacing("PLACE", with: secret).utf8).base64EncodedString()
        #expect(placement.header("authorization", sent) == expected)
        #expect(placement.header("Authorization".lowercased(), "Basic !!!") == "Basic !!!")
    }

    /// Foundation reads what was put in.
    @Test func targetsAndForms() throws {
        var placement = try placement([.query, .path, .form])
        let target = placement.target("/a/\(placeholder)/b?key=\(placeholder)&x=1")
        let components = try #require(URLComponents(string: target))
        #expect(components.path == "/a/\(secret)/b")
        #expect(components.queryItems?.first?.value == secret)
        let form = placement.form(Array("a=1&token=\(placeholder)".utf8))
        let read = try #require(URLComponents(string: "/?" + String(decoding: form, as: UTF8.self)))
        #expect(read.queryItems?.last?.value == secret)
    }

    @Test func JSON() throws {
        var placement = try placement([.json])
        let body = placement.json(Array(#"{"token": "\#(placeholder)", "n": 1}"#.utf8))
        let read = try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
        #expect(read?["token"] as? String == secret)
    }

    /// A value ends where its kind of text says, and not at the next character that looks like it.
    @Test(arguments: [
        #"{"a": "chosen\"PLACE"}"#, #"["a"PLACE"b"]"#, #"{"PLACE": 1}"#, #"{"PLACE" : 1}"#, #"["\\"PLACE"]"#, "PLACE",
        #""PLACE"#, #"["PLACE\""]"#,
    ]) func whatIsNoStringStays(_ form: String) throws {
        var placement = try placement([.json, .websocket])
        let text = Array(form.replacing("PLACE", with: placeholder).utf8)
        #expect(placement.json(text) == text)
        #expect(placement.wanted.isEmpty && placement.strays.map(\.number) == [7])
        if form.contains("\"") { #expect(placement.message(text) == text) }
    }

    @Test func aValueBeginsAtItsName() throws {
        var placement = try placement([.query, .form])
        for text in ["q=chosen=\(placeholder)", "a=1&q=x=\(placeholder)&b=2"] {
            #expect(placement.form(Array(text.utf8)) == Array(text.utf8))
            #expect(placement.target("/?" + text) == "/?" + text)
        }
        #expect(placement.wanted.isEmpty)
    }

    /// Beside other text of the program, a placeholder stays: a server that repeats a part of it would tell a part.
    @Test func onlyWholeValues() throws {
        var placement = try placement([.authorization, .header("x-key"), .path, .query, .form, .json])
        for value in ["AAAA\(placeholder)", "\(placeholder)B", "a b \(placeholder)", "\(placeholder)\(placeholder)"] {
            #expect(placement.header("x-key", value) == value)
        }
        let basic = "Basic " + Data("alice:AA\(placeholder)".utf8).base64EncodedString()
        #expect(placement.header("authorization", basic) == basic)
        #expect(placement.target("/x\(placeholder)?k=A\(placeholder)") == "/x\(placeholder)?k=A\(placeholder)")
        #expect(placement.form(Array("k=\(placeholder)A".utf8)) == Array("k=\(placeholder)A".utf8))
        #expect(placement.json(Array(#"["A\#(placeholder)"]"#.utf8)) == Array(#"["A\#(placeholder)"]"#.utf8))
        #expect(placement.wanted.isEmpty)
    }

    /// Without values nothing changes, and what would change is known.
    @Test func theFirstLook() throws {
        var placement = try placement([.query], hasValue: false)
        #expect(placement.target("/?k=\(placeholder)") == "/?k=\(placeholder)")
        #expect(placement.wanted == [7])
        #expect(placement.target("/\(placeholder)") == "/\(placeholder)")
        #expect(placement.strays.map(\.place) == [.path])
    }

    /// A request that the rule is not about keeps its placeholder everywhere.
    @Test func noPlace() throws {
        var placement = try placement([])
        #expect(placement.header("authorization", "Bearer \(placeholder)") == "Bearer \(placeholder)")
        #expect(placement.target("/?k=\(placeholder)") == "/?k=\(placeholder)")
        #expect(placement.wanted.isEmpty)
        #expect(placement.strays.count == 2)
    }
}
