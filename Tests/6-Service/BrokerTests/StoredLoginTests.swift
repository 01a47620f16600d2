import Bytes
import Foundation
import SystemLibraries
import TestSupport
import Testing

@testable import Broker

/// Logins as items keep them, who may refresh them, and what servers answer.
@Suite struct StoredLoginTests {
    private func secret(_ text: String) throws -> HeldSecret { HeldSecret(try SecretBytes(text)) }

    private func login() throws -> StoredLogin {
        var login = StoredLogin(
            endpoint: "https://login.example.com/token", client: "c", authentication: .none,
            refreshToken: try secret("R1"))
        login.previousRefreshToken = try secret("R0")
        login.access = .init(token: try secret("A1-token"), attempt: 3, issued: 1_000_000, lifetime: 3_600)
        login.attempt = 3
        login.lease = .ofThisProcess(now: 1_000_010)
        login.failure = .init(attempt: 2, time: 999, reason: "no", isEnd: true)
        login.unanswered = 998
        return login
    }

    @Test func aLoginIsRead() throws {
        let login = try login()
        let read = try StoredLogin(value: login.value())
        #expect(read.refreshToken == login.refreshToken && read.previousRefreshToken == login.previousRefreshToken)
        #expect(read.access == login.access && read.lease == login.lease && read.failure == login.failure)
        #expect(read.attempt == 3 && read.unanswered == 998 && read.endpoint == login.endpoint)
        #expect(try read.value() == login.value())
    }

    /// The vector of Documentation/Specify/Formats/Logins.md's layout.
    @Test func theLayoutStays() throws {
        let text =
            #"{"access":{"attempt":7,"issued":1700000000,"lifetime":3600,"token":"AAAAAAAA"},"attempt":8,"#
            + #""authentication":"basic","client":"c","client_secret":"s","endpoint":"https://h/t","#
            + #""failure":{"attempt":6,"isEnd":false,"reason":"r","time":1699999999},"#
            + #""lease":{"began":5,"boot":"00000000-0000-0000-0000-000000000001","#
            + #""holder":"00000000-0000-0000-0000-000000000002","namespace":"pid:[1]","process":9,"time":1700000001,"#
            + #""uptime":4},"previous_refresh_token":"R0","refresh_token":"R1","scope":"a b","unanswered":1699999998,"#
            + #""version":1}"#
        let login = try StoredLogin(value: Data(text.utf8))
        #expect(login.access?.attempt == 7 && login.lease?.process == 9 && login.authentication == .basic)
        #expect(String(decoding: try login.value(), as: UTF8.self) == text)
    }

    @Test func otherValuesAreRefused() throws {
        let text = String(decoding: try login().value(), as: UTF8.self)
        #expect(throws: StoredLogin.Problem.version(2)) {
            try StoredLogin(value: Data(text.replacing(#""version":1"#, with: #""version":2"#).utf8))
        }
        for damaged in [
            "", "{}", "[]", "secret", String(text.dropLast()),
            text.replacing(#""attempt":3,"auth"#, with: #""attempt":-1,"auth"#),
            text.replacing(#""attempt":3,"auth"#, with: #""attempt":9223372036854775807,"auth"#),
            text.replacing(#""refresh_token":"R1","#, with: ""),
        ] {
            #expect(throws: StoredLogin.Problem.damaged, "\(damaged)") { try StoredLogin(value: Data(damaged.utf8)) }
        }
    }

    @Test func aTokenIsGoodUntilNearItsEnd() throws {
        let login = try login()
        let issued: Int64 = 1_000_000
        func isThere(_ seconds: Int64, after: Int64, refused: Int64? = nil, since: Int64 = 3) -> Bool {
            login.access(for: .init(seconds: seconds, refused: refused), now: issued + after, since: since) != nil
        }
        #expect(isThere(60, after: 3_539) && !isThere(60, after: 3_540))
        // Never good for so long: for half of its life.
        #expect(isThere(7_200, after: 1_799) && !isThere(7_200, after: 1_800))
        #expect(!isThere(60, after: 0, refused: 3) && isThere(60, after: 0, refused: 2))
        // What came after the question is as fresh as there is.
        #expect(isThere(60, after: 3_599, since: 2))
        // The clock was set back.
        #expect(isThere(60, after: -60) && !isThere(60, after: -61))
        var endless = login
        endless.access?.lifetime = nil
        #expect(endless.access(for: .init(), now: .max, since: 3) != nil)
    }

    /// Numbers that nobody can count on make an item no login, and are never stored.
    @Test func numbersHaveBounds() throws {
        let most: Int64 = (1 << 53) - 1
        var changes: [(StoredLogin) -> StoredLogin] = []
        func wrong(_ change: @escaping (inout StoredLogin) -> Void) {
            changes.append { login in
                var login = login
                change(&login)
                return login
            }
        }
        for attempt in [Int64(-1), 4, .max] {
            wrong { $0.access?.attempt = attempt }
            wrong { $0.failure?.attempt = attempt }
        }
        for time in [Int64.min, -1, 1 << 40, .max] {
            wrong { $0.access?.issued = time }
            wrong { $0.failure?.time = time }
            wrong { $0.unanswered = time }
            wrong { $0.lease?.time = time }
        }
        for lifetime in [Int64.min, -1, 315_360_001, .max] { wrong { $0.access?.lifetime = lifetime } }
        wrong { $0.attempt = most + 1 }
        for (number, change) in changes.enumerated() {
            let login = change(try login())
            #expect(throws: StoredLogin.Problem.damaged, "\(number)") { try login.value() }
            let encoded = try JSONEncoder().encode(login)
            #expect(throws: StoredLogin.Problem.damaged, "\(number)") { try StoredLogin(value: encoded) }
        }
        var last = try login()
        last.attempt = most
        last.access?.lifetime = 315_360_000
        last.access?.issued = (1 << 40) - 1
        #expect(try StoredLogin(value: last.value()).nextAttempt == nil)
        last.attempt = most - 1
        #expect(last.nextAttempt == most)
    }

    /// A token comes over a socket, with any numbers.
    @Test func anyNumbersOfATokenCanBeAskedAbout() throws {
        let numbers = [Int64.min, .min + 1, -1, 0, 1, 1_796_074_000, .max - 1, .max]
        for issued in numbers {
            for lifetime in numbers {
                for now in numbers {
                    let token = LoginToken(
                        .init(token: try secret("A"), attempt: 1, issued: issued, lifetime: lifetime))
                    let isFuture = issued > 1_000 && now < 0
                    #expect(!isFuture || token.isOver(now: now))
                    #expect(!token.isOver(now: now) || token.isStale(now: now))
                    #expect((token.age(now: now) < 0) == (now < issued))
                }
            }
        }
        let endless = LoginToken(.init(token: try secret("A"), attempt: 1, issued: 1_796_074_000, lifetime: .max))
        #expect(endless.end == .max && !endless.isStale(now: 1_796_074_001))
    }

    private static let boot = UUID()

    private func clock(_ uptime: Double, _ boot: UUID? = Self.boot) -> BootClock {
        BootClock(bootIdentifier: { boot }, uptime: { uptime })
    }

    @Test func aLeaseOfALivingProcessEndsWithItsTime() {
        let lease = LoginLease.ofThisProcess(now: 5_000, clock: clock(100))
        for (uptime, isOver) in [(100.0, false), (103, false), (220, false), (221, true), (99, true)] {
            // The time of day makes no difference.
            for now in [Int64(0), 5_000, 9_999_999] {
                #expect(lease.isOver(now: now, clock: clock(uptime)) == isOver, "\(uptime) \(now)")
            }
        }
    }

    @Test func aLeaseOfAProcessThatEndedIsOverAfterAMoment() {
        var lease = LoginLease.ofThisProcess(now: 5_000, clock: clock(100))
        // Another process has its number.
        lease.began += 1
        #expect(!lease.isOver(now: 5_000, clock: clock(101)) && lease.isOver(now: 5_000, clock: clock(102)))
        // Those of another namespace are not known here.
        lease.namespace = "pid:[1]"
        #expect(!lease.isOver(now: 5_000, clock: clock(102)))
        lease = .ofThisProcess(now: 5_000, clock: clock(100))
        for process in [Int32.max, 0, -1] {
            lease.process = process
            #expect(lease.isOver(now: 5_000, clock: clock(102)), "\(process)")
        }
    }

    @Test func aLeaseOfAnotherMachineEndsWithTheTimeOfDay() {
        let lease = LoginLease.ofThisProcess(now: 5_000, clock: clock(100, UUID()))
        for (now, isOver) in [(Int64(5_000), false), (5_120, false), (5_121, true), (4_999, true), (.max, true)] {
            #expect(lease.isOver(now: now, clock: clock(100)) == isOver, "\(now)")
        }
    }

    @Test func theClientShowsItself() throws {
        var login = try login()
        login.client = "a b:c"
        login.scope = "read write"
        let token = try SecretBytes("a+b/c=&d e")
        func request() throws -> (String, String?) {
            let request = try TokenRequest(refreshing: login, with: token)
            return (
                request.body.withUnsafeBytes { String(decoding: $0, as: UTF8.self) },
                request.headers.first { $0.name == "Authorization" }?.value
            )
        }
        let start = "grant_type=refresh_token&refresh_token=a%2Bb%2Fc%3D%26d%20e&scope=read%20write"
        #expect(try request() == (start + "&client_id=a%20b%3Ac", nil))
        login.clientSecret = try secret("s:% ")
        login.authentication = .post
        #expect(try request() == (start + "&client_id=a%20b%3Ac&client_secret=s%3A%25%20", nil))
        login.authentication = .basic
        let pair = Data("a%20b%3Ac:s%3A%25%20".utf8).base64EncodedString()
        #expect(try request() == (start, "Basic " + pair))
    }

    private func answer(_ status: Int, _ text: String) throws -> TokenAnswer {
        TokenAnswer(status: status, body: Array(text.utf8), from: "host", hiding: [try SecretBytes("SECRET-R1-token")])
    }

    @Test func answersWithTokens() throws {
        let plain = try answer(200, #"{"access_token":"AAAAAAAA","token_type":"bearer","expires_in":60}"#)
        #expect(try plain.access == secret("AAAAAAAA") && plain.lifetime == 60 && plain.refresh == nil)
        for (text, lifetime) in [("\"90\"", Int64(90)), ("1.5", 1), ("-5", 0), ("1e300", 315_360_000)] {
            #expect(
                try answer(200, #"{"access_token":"AAAAAAAA","expires_in":\#(text)}"#).lifetime == lifetime, "\(text)")
        }
        for text in ["null", "true", "\"soon\"", "[]"] {
            let answer = try answer(200, #"{"access_token":"AAAAAAAA","expires_in":\#(text)}"#)
            #expect(answer.access != nil && answer.lifetime == nil, "\(text)")
        }
        // The next refresh token is kept, whatever the rest is.
        for text in [
            #"{"refresh_token":"R2"}"#, #"{"access_token":"AAAAAAAA","token_type":"mac","refresh_token":"R2"}"#,
            #"{"access_token":"a b c d e f","refresh_token":"R2"}"#, #"{"access_token":"short","refresh_token":"R2"}"#,
            #"{"access_token":"AAAAAAAA\n","refresh_token":"R2"}"#,
            #"{"access_token":"AAAAAAAA","token_type":7,"refresh_token":"R2"}"#,
            #"{"access_token":["AAAAAAAA"],"refresh_token":"R2"}"#,
            #"{"error":{"code":1},"error_description":[],"refresh_token":"R2"}"#,
        ] {
            let answer = try answer(200, text)
            #expect(try answer.access == nil && answer.refresh == secret("R2") && answer.reason != nil, "\(text)")
        }
    }

    /// Other answers of success use the refresh token up, too.
    @Test(arguments: [201, 203, 299])
    func otherSuccesses(_ status: Int) throws {
        let answer = try answer(status, #"{"access_token":"AAAAAAAA","error":{},"refresh_token":"R2"}"#)
        #expect(try answer.access == secret("AAAAAAAA") && answer.refresh == secret("R2") && !answer.isLoss)
    }

    /// A refresh token that cannot be kept is no reason to think that there is none.
    @Test func aRefreshTokenThatCannotBeKept() throws {
        let long = String(repeating: "R", count: 65_537)
        for text in ["7", "{}", "[\"R2\"]", "\"R2\u{E9}\"", "\"R\\n2\"", "\"\(long)\""] {
            let answer = try answer(200, #"{"access_token":"AAAAAAAA","refresh_token":\#(text)}"#)
            #expect(answer.access != nil && answer.refresh == nil && answer.isLoss, "\(text)")
            #expect(answer.reason?.hasPrefix("host gave a refresh token that cannot be kept") == true, "\(text)")
        }
        for text in ["null", "\"\""] {
            let answer = try answer(200, #"{"access_token":"AAAAAAAA","refresh_token":\#(text)}"#)
            #expect(answer.access != nil && !answer.isLoss && answer.reason == nil, "\(text)")
        }
        #expect(try answer(200, "[]").isLoss && !answer(500, "[]").isLoss)
    }

    @Test func answersWithoutTokens() throws {
        #expect(try answer(400, #"{"error":"invalid_grant"}"#).isEnd)
        for (status, text) in [
            (500, ""), (400, #"{"error":"invalid_client"}"#), (401, #"{"error":"invalid_request"}"#),
            (302, #"{"access_token":"AAAAAAAA","refresh_token":"R2"}"#), (200, "[]"), (200, "\u{0}"), (201, "{}"),
            (400, #"{"error":"\u001b[2J"}"#), (200, #"{"access_token":5}"#),
        ] {
            let answer = try answer(status, text)
            #expect(answer.access == nil && answer.refresh == nil && !answer.isEnd && answer.reason != nil, "\(text)")
        }
        let repeated = try answer(
            400, #"{"error":"x","error_description":"got SECRET-R1-token, and U0VDUkVULVIxLXRva2Vu"}"#)
        #expect(repeated.reason?.contains("SECRET") == false && repeated.reason?.contains("U0VD") == false)
        #expect(repeated.reason?.hasPrefix("host refuses: x (got ****") == true, "\(repeated.reason ?? "")")
    }

    /// A placeholder for a JSON Web Token is one, and has nothing of it.
    @Test func placeholdersOfWebTokens() throws {
        func part(_ text: String) -> String { UnpaddedBase64.url.string(Array(text.utf8)) }
        let signature = String(repeating: "Sig", count: 30)
        let token = [part(#"{"alg":"ES384","kid":"key-of-the-server"}"#), part(#"{"sub":"alice"}"#), signature]
            .joined(separator: ".")
        let made = Set(try (0..<20).map { _ in Placeholder.make(forToken: try SecretBytes(token)) })
        #expect(made.count == 20)
        for text in made {
            let parts = text.split(separator: ".").map(String.init)
            try #require(parts.count == 3)
            let header = try #require(UnpaddedBase64.url.decode(Array(parts[0].utf8)))
            #expect(String(decoding: header, as: UTF8.self) == #"{"alg":"ES256","typ":"JWT"}"#)
            let claims = try #require(UnpaddedBase64.url.decode(Array(parts[1].utf8)))
            #expect(!String(decoding: claims, as: UTF8.self).contains("alice"))
            #expect(parts[2].utf8.count >= 90 && parts[2] != signature)
        }
        // Others have the shape of other secrets.
        for text in ["a.b.c", "ya29.abcdefghijklmnopqrstuvwxyz012345", "x.\(part("{}")).y"] {
            let made = Placeholder.make(forToken: try SecretBytes(text))
            let header = UnpaddedBase64.url.decode(Array(made.utf8.prefix { $0 != 0x2E })) ?? []
            #expect((try? JSONSerialization.jsonObject(with: Data(header))) == nil)
        }
    }

    /// What a server says of a log-in by a code.
    @Test func codesOfAServer() throws {
        func read(_ text: String) -> DeviceAuthorization? { DeviceAuthorization(Array(text.utf8)) }
        let whole = try #require(
            read(
                #"{"device_code":"GmRh","user_code":"WDJB-MJHT","verification_uri":"https://a.example/d","#
                    + #""verification_uri_complete":"https://a.example/d?c=WDJB-MJHT","expires_in":1800,"interval":7}"#)
        )
        #expect(whole.userCode == "WDJB-MJHT" && whole.place == "https://a.example/d")
        #expect(whole.placeWithCode == "https://a.example/d?c=WDJB-MJHT")
        #expect(whole.lifetime == 1_800 && whole.interval == 7)
        let least = try #require(
            read(
                #"{"device_code":"G","user_code":"W","verification_url":"https://a","interval":-1e300,"expires_in":1e300}"#
            ))
        #expect(least.placeWithCode == nil && least.interval == 5 && least.lifetime == 3_600)
        for text in [
            "", "{}", #"{"device_code":"","user_code":"W","verification_uri":"https://a"}"#,
            #"{"device_code":"G","user_code":"\u001b[2J","verification_uri":"https://a"}"#,
            #"{"device_code":"G","user_code":"W","verification_uri":"javascript:a"}"#,
            #"{"device_code":"G","user_code":"W","verification_uri":"https://a b"}"#,
            #"{"device_code":"G","user_code":"W","verification_uri":"https://a.example@b.example/"}"#,
            #"{"device_code":"G","user_code":"W","verification_uri":"http://a.example/"}"#,
            #"{"device_code":"Gé","user_code":"W","verification_uri":"https://a"}"#,
            #"{"device_code":"G","user_code":"W"}"#,
        ] { #expect(read(text) == nil, "\(text)") }
    }
}
