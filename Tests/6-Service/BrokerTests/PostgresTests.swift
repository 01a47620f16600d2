import Bytes
import Crypto
import Foundation
import TestSupport
import Testing

@testable import Broker

/// The rules for PostgreSQL, its messages before a session is ready, and SCRAM.
@Suite struct PostgresTests {
    private func rule(_ words: String) throws -> BrokerRule { try BrokerRule("PGPASSWORD=keychain://db/app \(words)") }

    @Test func rules() throws {
        let rule = try rule("to postgres://app@DB.example.com/shop at 10.0.0.5 times 3 until 1h ask")
        let server = try #require(rule.destinations.first)
        #expect(server.login == PostgresLogin(user: "app", database: "shop", sendsPassword: false))
        #expect(server.host == "db.example.com" && server.port == 5_432 && server.address == "10.0.0.5")
        #expect(rule.login == server.login && rule.places.isEmpty && rule.times == 3 && rule.isAsking)
        #expect(try JSONDecoder().decode(BrokerRule.self, from: JSONEncoder().encode(rule)) == rule)
        let other = try self.rule("to postgresql+password://a%40b@[::1]:6000")
        #expect(other.login == PostgresLogin(user: "a@b", database: nil, sendsPassword: true))
        #expect(other.destinations.first?.host == "::1" && other.destinations.first?.port == 6_000)
        #expect(server.login?.url(of: "db.example.com", 5_432) == "postgres://app@db.example.com/shop")
        #expect(other.login?.url(of: "::1", 6_000) == "postgres+password://a%40b@[::1]:6000/*")
        #expect(
            server.login?.url(atPort: 7, placeholder: "a/b+c=")
                == "postgres://app:a%2Fb%2Bc%3D@127.0.0.1:7/shop?sslmode=disable")
        for path in ["/", "/shop"] {
            #expect(
                !rule.covers(
                    BrokerRequest(isSecure: true, host: "db.example.com", port: 5_432, method: "GET", path: path)))
        }
    }

    @Test(arguments: [
        "to postgres://db.example.com/shop", "to postgres://app:hunter22@db.example.com/shop", "to postgres://@host/x",
        "to postgres://app@/shop", "to postgres://app@host/shop/x", "to postgres://app@host/shop?sslmode=disable",
        "to postgres://app@*.example.com/shop", "to postgres://app@host/%00", "to postgres://app@host:0/x",
        "to postgres://app@host/shop to https://host", "to postgres://app@host/a to postgres://app@host/b",
        "to postgres://app@host/shop in header:x", "to postgres://app@host/shop methods GET",
        "to mysql://app@host/shop",
        "to postgres://\(String(repeating: "a", count: 64))@host/shop",
    ])
    func whatIsNoRule(_ words: String) {
        let problem = #expect(throws: BrokerRule.Problem.self) { try rule(words) }
        #expect(problem?.description.contains("hunter22") == false)
    }

    private func startup(_ code: UInt32, _ body: [UInt8]) -> [UInt8] {
        PostgresMessage.bytes(UInt32(clamping: body.count + 8)) + PostgresMessage.bytes(code) + body
    }

    private func take(_ bytes: [UInt8]) throws -> PostgresStartup? {
        var bytes = bytes
        return try PostgresStartup.take(&bytes)
    }

    @Test func firstMessages() throws {
        #expect(try take(PostgresMessage.tlsRequest) == .encryption)
        #expect(try take(startup(80_877_104, [])) == .encryption)
        #expect(
            try take(PostgresMessage.cancelRequest([1, 2, 3, 4, 5, 6, 7, 8])) == .cancel([1, 2, 3, 4, 5, 6, 7, 8]))
        let whole = PostgresMessage.startup([PostgresParameter("user", "app"), PostgresParameter("database", "shop")])
        guard case .login(let request)? = try take(whole) else {
            Issue.record("no log-in")
            return
        }
        #expect(request.user == "app" && request.database == "shop" && request.minor == 0)
        for count in 0..<whole.count { #expect(try take(Array(whole.prefix(count))) == nil) }
        var both = whole + [9]
        _ = try PostgresStartup.take(&both)
        #expect(both == [9])
        for bad in [
            PostgresMessage.bytes(7) + [0, 0, 0, 0], PostgresMessage.bytes(10_001) + [0, 3, 0, 0],
            PostgresMessage.bytes(.max) + [0, 3, 0, 0], startup(2 << 16, []), startup(80_877_102, [1]),
            startup(80_877_103, [1]), startup(3 << 16, []), startup(3 << 16, Array("user\0app\0".utf8)),
            startup(3 << 16, Array("user\0app\0user\0owner\0\0".utf8)), startup(3 << 16, Array("user\0app\0\0x".utf8)),
            startup(3 << 16, [0xFF, 0, 0x61, 0, 0]),
        ] {
            #expect(throws: PostgresProblem.self, "\(bad)") { try take(bad) }
        }
    }

    @Test func whatAProgramMayAskFor() throws {
        let login = PostgresLogin(user: "app", database: "shop", sendsPassword: false)
        func request(_ pairs: [(String, String)]) -> PostgresStartup.Request {
            PostgresStartup.Request(minor: 0, parameters: pairs.map { PostgresParameter($0.0, $0.1) })
        }
        let parameters = try login.parameters(
            for: request([("user", "app"), ("_pq_.x", "1"), ("application_name", "test"), ("replication", "off")]))
        #expect(parameters.map(\.name) == ["user", "database", "application_name", "replication"])
        #expect(parameters.map(\.value) == ["app", "shop", "test", "off"])
        for bad in [
            [], [("user", "owner")], [("user", "app"), ("database", "other")],
            [("user", "app"), ("replication", "database")],
        ] {
            #expect(throws: PostgresProblem.self) { try login.parameters(for: request(bad)) }
        }
        let free = PostgresLogin(user: "app", database: nil, sendsPassword: false)
        #expect(try free.parameters(for: request([("user", "app"), ("database", "any")]))[1].value == "any")
        #expect(try free.parameters(for: request([("user", "app")]))[1].value == "app")
    }

    @Test func messages() throws {
        var bytes = PostgresMessage.failure("28P01", "a\0b").encoded + [1]
        let message = try #require(try PostgresMessage.take(&bytes))
        #expect(bytes == [1])
        #expect(message.failure.code == "28P01" && message.failure.text == "ab")
        #expect(PostgresMessage("E", Array("Cx\0Mtext\0\0".utf8)).failure == ("08P01", "text"))
        #expect(PostgresMessage("p", [0x61, 0]).text == [0x61])
        for body: [UInt8] in [[], [0x61], [0x61, 0, 0x62, 0]] { #expect(PostgresMessage("p", body).text == nil) }
        #expect(PostgresMessage.passwordRequest.authentication == .password)
        #expect(PostgresMessage.authenticated.authentication == .ok)
        #expect(PostgresMessage("R", [0, 0, 0, 10, 0x41, 0, 0x42, 0, 0]).authentication == .sasl(["A", "B"]))
        #expect(PostgresMessage("R", [0, 0]).authentication == nil)
        var long: [UInt8] = [0x53] + PostgresMessage.bytes(65_537)
        #expect(throws: PostgresProblem.self) { try PostgresMessage.take(&long) }
        var short: [UInt8] = [0x53] + PostgresMessage.bytes(3)
        #expect(throws: PostgresProblem.self) { try PostgresMessage.take(&short) }
    }

    /// Sync and Terminate have no body.
    @Test func messagesWithoutABody() throws {
        for type in [UInt8(ascii: "S"), UInt8(ascii: "X")] {
            var bytes = [type, 0, 0, 0, 4, 7]
            let message = try #require(try PostgresMessage.take(&bytes))
            #expect(message.type == type && message.body.isEmpty && bytes == [7])
            #expect(message.text == nil)
        }
        for length in UInt32(0)..<4 {
            var bytes = [UInt8(ascii: "S")] + PostgresMessage.bytes(length)
            #expect(throws: PostgresProblem.self) { try PostgresMessage.take(&bytes) }
        }
    }

    @Test func anyBytes() {
        for _ in 0..<TestScale.count(20_000, soak: 5_000_000) {
            var bytes = (0..<Int.random(in: 0...40)).map { _ in UInt8.random(in: 0...255) }
            if Bool.random() { bytes = PostgresMessage.bytes(UInt32.random(in: 0...50)) + bytes }
            if Bool.random() { bytes.insert(UInt8.random(in: 0x41...0x5A), at: 0) }
            if Bool.random(), bytes.count > 8 { bytes.replaceSubrange(4..<8, with: [0, 3, 0, 0]) }
            var copy = bytes
            _ = try? PostgresStartup.take(&copy)
            copy = bytes
            if let message = try? PostgresMessage.take(&copy) {
                _ = (message.failure, message.text, message.authentication)
            }
            _ = (PostgresMessage("R", bytes).authentication, PostgresMessage("E", bytes).failure)
        }
    }

    // MARK: SCRAM

    /// The example of RFC 7677, 3, but for the user, which PostgreSQL has in another place.
    private let nonce = "rOprNGfwEbeRWgbNEkqO"
    private let challenge =
        "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"

    /// An own computation of RFC 5802, 3, with HMAC alone.
    private func expected(
        _ password: String, salt: Data, rounds: Int, message: String
    ) -> (proof: Data, signature: Data) {
        func hmac(_ key: Data, _ data: Data) -> Data {
            Data(HMAC<SHA256>.authenticationCode(for: data, using: SymmetricKey(data: key)))
        }
        var last = hmac(Data(password.utf8), salt + [0, 0, 0, 1])
        var salted = last
        for _ in 1..<rounds {
            last = hmac(Data(password.utf8), last)
            salted = Data(zip(salted, last).map { $0 ^ $1 })
        }
        let client = hmac(salted, Data("Client Key".utf8))
        let signature = hmac(Data(SHA256.hash(data: client)), Data(message.utf8))
        return (
            Data(zip(client, signature).map { $0 ^ $1 }),
            hmac(hmac(salted, Data("Server Key".utf8)), Data(message.utf8))
        )
    }

    @Test func knownAnswer() throws {
        let salt = try #require(Data(base64Encoded: "W22ZaJ0SNY7soEsUEjb6gQ=="))
        // The test's own computation first, with the numbers of the RFC.
        let joint = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
        let known = expected(
            "pencil", salt: salt, rounds: 4_096, message: "n=user,r=\(nonce),\(challenge),c=biws,r=\(joint)")
        #expect(known.proof.base64EncodedString() == "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
        #expect(known.signature.base64EncodedString() == "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")
        let login = try ScramLogin(["SCRAM-SHA-256"], binding: nil, nonce: nonce)
        #expect(login.first == Array("n,,n=,r=\(nonce)".utf8))
        let answer = try login.answer(Array(challenge.utf8), with: SecretBytes("pencil"))
        let own = expected("pencil", salt: salt, rounds: 4_096, message: "n=,r=\(nonce),\(challenge),c=biws,r=\(joint)")
        #expect(
            String(decoding: answer.message, as: UTF8.self)
                == "c=biws,r=\(joint),p=\(own.proof.base64EncodedString())")
        try answer.expectation.check(Array("v=\(own.signature.base64EncodedString())".utf8))
        var wrong = own.signature
        wrong[31] ^= 1
        for bad in [
            "v=\(wrong.base64EncodedString())", "v=", "", "e=other-error",
            "v=\(own.signature.prefix(31).base64EncodedString())",
        ] {
            #expect(throws: PostgresProblem.self, "\(bad)") { try answer.expectation.check(Array(bad.utf8)) }
        }
    }

    @Test func bindings() throws {
        let (both, one) = (["SCRAM-SHA-256-PLUS", "SCRAM-SHA-256"], ["SCRAM-SHA-256"])
        let bound = try ScramLogin(both, binding: [1, 2, 3], nonce: nonce)
        #expect(bound.mechanism == "SCRAM-SHA-256-PLUS")
        #expect(bound.first.starts(with: Array("p=tls-server-end-point,,".utf8)))
        let answer = try bound.answer(Array(challenge.utf8), with: SecretBytes("pencil"))
        let begin = Data(Array("p=tls-server-end-point,,".utf8) + [1, 2, 3]).base64EncodedString()
        #expect(answer.message.starts(with: Array("c=\(begin),r=".utf8)))
        #expect(try ScramLogin(one, binding: [1], nonce: nonce).first.starts(with: Array("y,,".utf8)))
        #expect(try ScramLogin(both, binding: nil, nonce: nonce).mechanism == "SCRAM-SHA-256")
        #expect(throws: PostgresProblem.self) { try ScramLogin(["SCRAM-SHA-1"], binding: [1]) }
        #expect(ScramLogin.nonce() != ScramLogin.nonce() && !ScramLogin.nonce().contains(","))
    }

    @Test(arguments: [
        "", "r=,s=,i=", "r=rOprNGfwEbeRWgbNEkqO,s=QUE=,i=4096", "r=otherNonce,s=QUE=,i=4096",
        "r=rOprNGfwEbeRWgbNEkqOx,s=,i=4096", "r=rOprNGfwEbeRWgbNEkqOx,s=%%%,i=4096", "r=rOprNGfwEbeRWgbNEkqOx,s=QUE=",
        "r=rOprNGfwEbeRWgbNEkqOx,s=QUE=,i=4095", "r=rOprNGfwEbeRWgbNEkqOx,s=QUE=,i=1000001",
        "r=rOprNGfwEbeRWgbNEkqOx,s=QUE=,i=99999999999999999999", "r=rOprNGfwEbeRWgbNEkqOx,s=QUE=,i=-5000",
        "m=x,r=rOprNGfwEbeRWgbNEkqOx,s=QUE=,i=4096", "r=rOprNGfwEbeRWgbNEkqO x,s=QUE=,i=4096",
    ])
    func malformedChallenges(_ text: String) throws {
        let login = try ScramLogin(["SCRAM-SHA-256"], binding: nil, nonce: nonce)
        #expect(throws: PostgresProblem.self) { try login.answer(Array(text.utf8), with: SecretBytes("pencil")) }
    }
}
