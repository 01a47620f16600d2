import Foundation
import Testing

@testable import Broker

/// What a rule says, and which requests it is about.
@Suite struct BrokerRuleTests {
    private func request(
        _ url: String, method: String = "GET", port: Int = 443
    ) -> BrokerRequest {
        let isSecure = url.hasPrefix("https://")
        let rest = url.dropFirst(isSecure ? 8 : 7)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        return BrokerRequest(
            isSecure: isSecure, host: String(rest[..<slash]), port: port, method: method, path: String(rest[slash...]))
    }

    @Test func allWords() throws {
        let now = Date(timeIntervalSince1970: 1_000)
        let rule = try BrokerRule(
            "TOKEN=keychain://api/token to https://API.example.com:8443/v1/* at 10.0.0.1\n\tto http://other.example "
                + "in authorization,header:X-Key,json methods get,POST times 3 until 2h ask keeps token,Id_Token",
            now: now)
        #expect(rule.variable == "TOKEN")
        #expect(rule.reference == "keychain://api/token")
        #expect(rule.destinations.map(\.host) == ["api.example.com", "other.example"])
        #expect(rule.destinations.map(\.port) == [8_443, 80])
        #expect(rule.destinations.map(\.address) == ["10.0.0.1", nil])
        #expect(rule.destinations.map(\.path) == ["/v1/*", nil])
        #expect(rule.places == [.authorization, .header("x-key"), .json])
        #expect(rule.methods == ["GET", "POST"])
        #expect(rule.times == 3)
        #expect(rule.until == now.addingTimeInterval(7_200))
        #expect(rule.isAsking)
        #expect(rule.keeps == ["token", "Id_Token"])
        let copy = try JSONDecoder().decode(BrokerRule.self, from: JSONEncoder().encode(rule))
        #expect(copy == rule)
    }

    @Test(arguments: [
        "TOKEN", "TOKEN=keychain://a/b", "TOKEN=keychain://a/b to ftp://host", "TOKEN=keychain://a/b to https://",
        "TOKEN=keychain://a/b to https://ho st", "TOKEN=keychain://a/b to https://host:0",
        "TOKEN=keychain://a/b to https://host:99999", "TOKEN=keychain://a/b to https://-host/../x",
        "TOKEN=keychain://a/b to https://host in", "TOKEN=keychain://a/b to https://host in host",
        "TOKEN=keychain://a/b to https://host in header:host",
        "TOKEN=keychain://a/b to https://host in cookie", "TOKEN=keychain://a/b to https://host in header:cookie",
        "TOKEN=keychain://a/b to https://host until 2020-01-01T00:00:00Z",
        "TOKEN=keychain://a/b to https://host times 0",
        "TOKEN=keychain://a/b to https://host until yesterday", "TOKEN=keychain://a/b to https://host ask ask",
        "TOKEN=keychain://a/b to https://host twice", "TOKEN=keychain://a/b at 10.0.0.1 to https://host",
        "TOKEN=keychain://a/b to https://host at example.com", "TOKEN=keychain://a/b to https://a.*.example",
        "TOKEN=keychain://a/b to https://host methods G3T", "TOKEN=keychain://a/b to https://host/a*b",
        "TOKEN=keychain://a/b to https://host until +1h", "TOKEN=keychain://a/b to https://host keeps a\"b",
        "TOKEN=keychain://a/b to https://host keeps \(String(repeating: "k", count: 65))",
        "TOKEN=keychain://a/b to postgres://me@host keeps token",
        "TOKEN=keychain://a/b to https://host until \(String(repeating: "0", count: 32))8h",
        "\(String(repeating: "T", count: 65))=keychain://a/b to https://host",
    ])
    func whatIsNoRule(_ text: String) {
        #expect(throws: BrokerRule.Problem.self) { try BrokerRule(text) }
    }

    @Test func onlyTheServerOfTheRule() throws {
        let rule = try BrokerRule("T=keychain://a/b to https://api.example.com")
        #expect(rule.covers(request("https://api.example.com/any/path")))
        for other in [
            "http://api.example.com/", "https://example.com/", "https://xapi.example.com/",
            "https://api.example.com.evil.test/", "https://evil.test/api.example.com",
        ] {
            #expect(!rule.covers(request(other)), "\(other)")
        }
        #expect(!rule.covers(request("https://api.example.com/", port: 8_443)))
    }

    @Test func aStarIsOneName() throws {
        let rule = try BrokerRule("T=keychain://a/b to https://*.example.com")
        #expect(rule.covers(request("https://a.example.com/")))
        for other in [
            "https://example.com/", "https://a.b.example.com/", "https://.example.com/", "https://aexample.com/",
        ] {
            #expect(!rule.covers(request(other)), "\(other)")
        }
    }

    /// A path that a server may read as another one is not the path of the rule.
    @Test(arguments: [
        "/v1/../admin", "/v1/%2e%2e/admin", "/v1/%2E./admin", "/v1//x", "/v1/..%2fadmin", "/v1/%5c../x", "/v1/..;/x",
        "/v1/a%00", "/v1/%252e%252e/x", "/v1\\..\\x", "/V1/x", "/v10/x", "/",
        "/v1/%ff", "/v1/%c0%ae", "/v1/%zz", "/v1/%4",
    ])
    func pathsThatServersReadInOtherWays(_ path: String) throws {
        let rule = try BrokerRule("T=keychain://a/b to https://host/v1/*")
        #expect(rule.covers(request("https://host/v1/x")))
        #expect(!rule.covers(request("https://host" + path)))
    }

    @Test func methodsAndTimes() throws {
        let rule = try BrokerRule("T=keychain://a/b to https://host methods GET until 1m")
        #expect(rule.covers(request("https://host/")))
        #expect(!rule.covers(request("https://host/", method: "POST")))
        #expect(!rule.covers(request("https://host/", method: "get")))
        #expect(!rule.covers(request("https://host/"), now: Date().addingTimeInterval(61)))
    }
}
