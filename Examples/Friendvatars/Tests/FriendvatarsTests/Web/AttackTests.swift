import Foundation
import FriendvatarsKit
import NIOHTTP1
import Testing

/// What scanners and attackers try, against the real program.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct AttackTests {
    @Test func forgedForms() async throws {
        try await withServer(options: ["--plain"]) { server in
            let ada = WebClient(server)
            #expect(try await ada.signUp("ada@example.com").location == "/friends")
            _ = try await ada.get("/friends")
            let friend = ["name": "Zoe", "email": "zoe@example.com"]
            // Another site's form comes with the cookie of the victim and without the field, or with the attacker's
            // own.
            let eve = WebClient(server)
            _ = try await eve.signUp("eve@example.com", name: "Eve")
            _ = try await eve.get("/friends")
            for token in ["", "x", await eve.token] {
                var forged = friend
                forged["form_token"] = token
                #expect(try await ada.post("/friends", forged).status == 403)
            }
            for headers in [["origin": "https://evil.example"], ["sec-fetch-site": "cross-site"], ["origin": "null"]] {
                #expect(try await ada.post("/friends", friend, headers: headers).status == 403)
            }
            #expect(try await ada.post("/friends", friend, headers: ["content-type": "text/plain"]).status == 415)
            #expect(try await !ada.get("/friends").text.contains("Zoe"))
            // Nothing is changed by a link.
            for path in ["/sign-out", "/friends/remove", "/account/delete"] {
                #expect(try await ada.get(path).status == 404)
            }
            #expect(try await ada.post("/friends", friend).status == 303)
            #expect(try await ada.get("/friends").text.contains("Zoe"))
        }
    }

    /// Nobody signs in to a session that somebody else has chosen, and a token is good for nothing after the sign-out.
    @Test func fixedSessions() async throws {
        try await withServer(options: ["--plain"]) { server in
            let (ada, eve) = (WebClient(server), WebClient(server))
            _ = try await ada.signUp("ada@example.com")
            _ = try await ada.post("/sign-out", [:])
            _ = try await eve.signUp("eve@example.com", name: "Eve")
            let chosen = try #require(await eve.cookies["__Host-session"])
            for planted in [chosen, "A" + chosen.dropFirst(), String(repeating: "A", count: 43)] {
                await ada.setCookie("__Host-session", planted)
                // With the page of the planted session, as after a visit.
                _ = try await ada.get("/friends")
                _ = try await ada.get("/sign-in")
                await ada.setCookie("__Host-session", nil)
                _ = try await ada.get("/sign-in")
                await ada.setCookie("__Host-session", planted == chosen ? nil : planted)
                #expect(
                    try await ada.post("/sign-in", ["email": "ada@example.com", "password": goodPassword]).status == 303
                )
                let got = try #require(await ada.cookies["__Host-session"])
                #expect(got != planted)
                await eve.setCookie("__Host-session", planted)
                #expect(try await !eve.get("/friends").text.contains("Ada Lovelace"))
                _ = try await ada.get("/friends")
                #expect(try await ada.post("/sign-out", [:]).location == "/sign-in?out")
                await ada.setCookie("__Host-session", got)
                #expect(try await ada.get("/friends").location == "/sign-in")
            }
        }
    }

    @Test func injectedHeadersAndMarkup() async throws {
        try await withServer(options: ["--plain"]) { server in
            let ada = WebClient(server)
            _ = try await ada.signUp("ada@example.com")
            _ = try await ada.get("/friends")
            for text in ["a\r\nSet-Cookie: evil=1", "a\nb", "a\u{0}b", "\u{7F}"] {
                #expect(try await ada.post("/friends", ["name": text, "email": "zoe@example.com"]).status == 422)
                #expect(try await ada.post("/friends", ["name": "Zoe", "email": text + "@example.com"]).status == 422)
                #expect(await ada.cookies["evil"] == nil)
            }
            for markup in [
                "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "{{name}}", "'--", "&lt;b&gt;",
                "{{{token}}}",
            ] {
                let answer = try await ada.post(
                    "/friends", ["name": markup, "email": "x\(abs(markup.hashValue))@example.com"])
                #expect(answer.status == 303)
            }
            // A mark with an accent is one character for Swift, and two for a browser.
            let accented = "quoted\"\u{301} autofocus onfocus=alert(1) y=\"\u{200D}"
            #expect(try await ada.post("/friends", ["name": accented, "email": "accent@example.com"]).status == 303)
            #expect(try await ada.get("/friends").bytes.range(of: Data("quoted\"".utf8)) == nil)
            #expect(
                try await ada.post("/friends", ["name": accented, "email": "no"]).bytes.range(of: Data("quoted\"".utf8))
                    == nil)
            let page = try await ada.get("/friends").text
            #expect(!page.contains("<script>alert") && !page.contains("<img src=x") && page.contains("{{name}}"))
            for path in [
                "/sign-in?out=%0d%0aSet-Cookie:%20evil=1", "/%0d%0aSet-Cookie:evil=1",
                "/sign-in?next=https://evil.example",
            ] {
                let answer = try await ada.get(path)
                #expect(answer.headers.first(name: "set-cookie")?.contains("evil") != true)
                #expect(answer.location?.contains("evil") != true)
            }
        }
    }

    @Test func pathsOutOfTheFolder() async throws {
        try await withServer(options: ["--plain"]) { server in
            let ada = WebClient(server)
            #expect(try await ada.get("/avatars/me").location == "/sign-in")
            _ = try await ada.signUp("ada@example.com")
            for path in [
                "/avatars/../friends.db", "/avatars/..%2ffriends.db", "/avatars/%2e%2e%2ffriends.db",
                "/avatars/....//friends.db",
                "/avatars/..%252ffriends.db", "/avatars/%00", "/avatars/..\\friends.db", "/avatars//etc/passwd",
                "/avatars/" + UUID().uuidString, "/avatars/" + String(repeating: "a", count: 5_000),
                "/static/../friends.db",
                "/static/..%2f..%2fetc%2fpasswd", "/static/", "/static/app.js%00.png", "/friends.db", "/.git/config",
            ] {
                let answer = try await ada.get(path)
                #expect([400, 404].contains(answer.status), "\(path): \(answer.status)")
                #expect(!answer.text.contains("root:"))
            }
            #expect(try await ada.get("/avatars/me").status == 200)
        }
    }

    @Test func headersOfEveryAnswer() async throws {
        // Other programs serve localhost without TLS.
        try await withServer { server in
            let headers = try await WebClient(server).get("/sign-in").headers
            #expect(headers.first(name: "strict-transport-security") == nil)
        }
        try await withServer(options: ["--name", "friends.example"]) { server in
            let ada = WebClient(server)
            _ = try await ada.signUp("ada@example.com")
            for path in ["/", "/friends", "/account", "/avatars/me", "/static/style.css", "/nothing", "/about"] {
                let headers = try await ada.get(path).headers
                #expect(
                    headers.first(name: "content-security-policy")?.contains("default-src 'none'") == true, "\(path)")
                #expect(headers.first(name: "x-content-type-options") == "nosniff")
                #expect(headers.first(name: "strict-transport-security") != nil)
                #expect(headers.first(name: "server") == nil)
            }
            #expect(try await ada.get("/friends").headers.first(name: "cache-control") == "no-store")
            let cookies = try await ada.signIn("ada@example.com").headers["set-cookie"]
            for cookie in cookies {
                #expect(cookie.contains("Secure") && cookie.contains("HttpOnly") && cookie.contains("SameSite"))
            }
        }
    }

    @Test func oversized() async throws {
        try await withServer(options: ["--plain"]) { server in
            let ada = WebClient(server)
            _ = try await ada.get("/sign-up")
            let answer = try await ada.post(
                "/sign-up", ["email": "a@example.com", "name": String(repeating: "x", count: 20_000)])
            #expect(answer.status == 413)
            let before = server.memory
            // A body that never ends, and one that says that it is large.
            for head in ["Transfer-Encoding: chunked", "Content-Length: 100000000000"] {
                let connection = try RawConnection(to: server.port)
                let start =
                    "POST /sign-up HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n\(head)\r\n\r\n"
                let piece =
                    Data((head.hasPrefix("T") ? "10000\r\n" : "").utf8) + Data(repeating: 0x61, count: 65_536)
                    + Data("\r\n".utf8)
                let sent = await connection.flood(Data(start.utf8), then: piece, upTo: 64 << 20)
                #expect(sent < 64 << 20, "all of it was taken")
            }
            #expect(server.memory < before + (64 << 20))
            for request in [
                "GET /\(String(repeating: "a", count: 1 << 20)) HTTP/1.1\r\nHost: x\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "a", count: 1 << 20))\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: x\r\n" + String(repeating: "X: a\r\n", count: 5_000) + "\r\n",
            ] {
                let answer = try await RawConnection(to: server.port).exchange(Data(request.utf8))
                #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"), "\(answer.prefix(40))")
            }
            #expect(try await WebClient(server).get("/health").status == 200)
        }
    }

    /// Who sends a byte now and then holds up nobody, and is sent away in time.
    @Test func slowClients() async throws {
        try await withServer(options: ["--plain", "--patience", "3"]) { server in
            var slow: [RawConnection] = []
            for _ in 0..<100 {
                let connection = try RawConnection(to: server.port)
                connection.send(Data("POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n".utf8))
                slow.append(connection)
            }
            let ended = Task { [slow] in
                await withTaskGroup(of: Bool.self) { group in
                    for connection in slow { group.addTask { await connection.trickleUntilClosed() } }
                    return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
            }
            // Meanwhile others are served.
            let ada = WebClient(server)
            #expect(try await ada.signUp("ada@example.com").location == "/friends")
            for _ in 0..<20 { #expect(try await ada.get("/friends").status == 200) }
            #expect(await ended.value == 100)
        }
    }

    /// Who takes no answers is sent away, too, and the answers wait in no memory.
    @Test func slowTakers() async throws {
        try await withServer(options: ["--plain", "--patience", "1"]) { server in
            let ada = WebClient(server)
            _ = try await ada.signUp("ada@example.com")
            _ = try await ada.get("/friends")
            // Names that make the page a large one.
            for number in 0..<100 {
                let name = "\(number) " + String(repeating: "\u{1F469}", count: 55)
                #expect(
                    try await ada.post("/friends", ["name": name, "email": "friend\(number)@example.com"]).status == 303
                )
            }
            let cookie = await ada.cookies["__Host-session"] ?? ""
            let (sockets, memory) = (server.sockets, server.memory)
            let request = Data(
                "GET /friends HTTP/1.1\r\nHost: localhost\r\nCookie: __Host-session=\(cookie)\r\n\r\n".utf8)
            let takers = try (0..<5).map { _ in try RawConnection(to: server.port, receiving: 4_096) }
            for taker in takers { taker.send(Data((0..<15).flatMap { _ in request })) }
            for taker in takers { #expect(await taker.firstPart().hasPrefix("HTTP/1.1 200")) }
            // Six seconds are an answer's.
            try await waitUntil("connections that nobody reads from stay") { server.sockets <= sockets }
            #expect(server.memory < memory + (64 << 20))
            #expect(try await WebClient(server).get("/health").status == 200)
            _ = takers
        }
    }

    /// Requests by the thousand on one connection get few answers, and hold nobody up.
    @Test func pipelines() async throws {
        try await withServer(options: ["--plain"]) { server in
            let request = Data("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
            let few = try RawConnection(to: server.port)
            let answers = await few.exchange(Data((0..<10).flatMap { _ in request }))
            #expect(answers.components(separatedBy: "HTTP/1.1 200").count == 11)
            let greedy = try (0..<10).map { _ in try RawConnection(to: server.port) }
            for connection in greedy { connection.sendWhatIsTaken(Data((0..<20_000).flatMap { _ in request })) }
            #expect(try await WebClient(server).get("/health").status == 200)
            for connection in greedy { #expect(await connection.isClosed()) }
        }
    }

    /// An answer to HEAD has no body, also where it is an error: what follows it on the connection is the next answer.
    @Test func heads() async throws {
        try await withServer(options: ["--plain"]) { server in
            for (path, status) in [("/sign-in", 200), ("/health", 200), ("/nothing", 404), ("/static/app.js", 200)] {
                let request =
                    "HEAD \(path) HTTP/1.1\r\nHost: localhost\r\n\r\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
                let answer = try await RawConnection(to: server.port).exchange(Data(request.utf8))
                #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(path)")
                let parts = answer.components(separatedBy: "\r\n\r\n")
                #expect(parts.count == 3 && parts[1].hasPrefix("HTTP/1.1 200") && parts[2] == "ok\n", "\(path)")
            }
        }
    }

    /// The same limits below TLS.
    @Test func oversizedOverTLS() async throws {
        try await withServer { server in
            let ada = WebClient(server)
            _ = try await ada.get("/sign-up")
            let fields = { (size: Int) in ["email": "a@example.com", "name": String(repeating: "x", count: size)] }
            #expect(try await ada.post("/sign-up", fields(20_000)).status == 413)
            let memory = server.memory
            // The answer, or the end of the connection, comes before all of it is sent.
            let status = try? await ada.post("/sign-up", fields(64 << 20)).status
            #expect(status == nil || status == 413)
            #expect(server.memory < memory + (48 << 20))
            #expect(try await ada.signUp("ada@example.com").location == "/friends")
        }
    }

    /// One address cannot have all places: others are served meanwhile, and it gets places back.
    @Test func manyConnections() async throws {
        try await withServer(options: ["--plain"]) { server in
            let request = Data("GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
            var greedy = try (0..<250).map { _ in try RawConnection(to: server.port, from: "127.0.0.3") }
            // One that is over the limit is closed without a word.
            while try await !RawConnection(to: server.port, from: "127.0.0.3").exchange(request).isEmpty {}
            let other = try RawConnection(to: server.port, from: "127.0.0.2")
            #expect(await other.exchange(request).hasPrefix("HTTP/1.1 200"))
            greedy.removeAll()
            while try await RawConnection(to: server.port, from: "127.0.0.3").exchange(request).isEmpty {}
        }
    }

    /// An answer that is given before its request has ended does not make the connection one for ever.
    @Test func answeredEarly() async throws {
        try await withServer(options: ["--plain", "--patience", "2"]) { server in
            for start in [
                "GET /health HTTP/1.1\r\n", "GET /health HTTP/1.1\r\nConnection: close\r\n",
                "POST /sign-in HTTP/1.1\r\n",
            ] {
                let connection = try RawConnection(to: server.port)
                connection.send(Data("\(start)Host: localhost\r\nContent-Length: 1\r\n\r\n".utf8))
                #expect(await connection.firstPart().hasPrefix("HTTP/1.1 "))
                connection.send(Data("x".utf8))
                // A minute is the most that it waits.
                #expect(await connection.isClosed(), "\(start)")
            }
        }
    }

    @Test func addressesBehindAProxy() async throws {
        try await withServer(options: ["--plain", "--behind-proxy"]) { server in
            let ada = WebClient(server)
            _ = try await ada.signUp("ada@example.com")
            func attempt(_ number: Int, from address: String) async throws -> Int {
                let eve = WebClient(server)
                _ = try await eve.get("/sign-in")
                return try await eve.post(
                    "/sign-in", ["email": "eve\(number)@example.com", "password": "x"],
                    headers: ["x-forwarded-for": address]
                ).status
            }
            var statuses: [Int] = []
            // What a client wrote into the header itself stands before what the proxy did.
            for number in 0..<25 { statuses.append(try await attempt(number, from: "198.51.100.\(number), 192.0.2.1")) }
            #expect(statuses.contains(429))
            #expect(try await attempt(100, from: "192.0.2.2") == 422)
            #expect(try await ada.get("/friends").headers.first(name: "strict-transport-security") != nil)
        }
    }

    @Test func signedOutEverywhere() async throws {
        try await withServer(options: ["--plain"]) { server in
            let (laptop, phone) = (WebClient(server), WebClient(server))
            _ = try await laptop.signUp("ada@example.com")
            #expect(try await phone.signIn("ada@example.com").status == 303)
            _ = try await phone.get("/account")
            #expect(try await phone.post("/sign-out/everywhere", [:]).status == 303)
            #expect(try await laptop.get("/friends").location == "/sign-in")
            #expect(try await phone.get("/friends").location == "/sign-in")
        }
    }

    /// Requests that are damaged in all kinds of ways: each is answered with an error or not at all, and nothing else
    /// happens.
    @Test func malformedRequests() async throws {
        let count = ProcessInfo.processInfo.environment["KEYCHAIN_TEST_SCALE"] != nil ? 10_000 : 2_000
        try await withServer(options: ["--plain"]) { server in
            let ada = WebClient(server)
            _ = try await ada.signUp("ada@example.com")
            let cookie = await ada.cookies["__Host-session"] ?? ""
            let seed = UInt64.random(in: 0...UInt64.max)
            print("malformed requests: seed \(seed)")
            var source = MalformedRequests(seed: seed, cookie: cookie)
            let before = server.memory
            var statuses: [String: Int] = [:]
            for number in 0..<count {
                let request = source.next()
                let answer = try await RawConnection(to: server.port).exchange(request)
                let status = answer.isEmpty ? "none" : String(answer.prefix(12).suffix(3))
                statuses[status, default: 0] += 1
                let isFine =
                    answer.isEmpty || (answer.hasPrefix("HTTP/1.") && !status.hasPrefix("5")) || status == "501"
                #expect(
                    isFine,
                    "seed \(seed), request \(number): \(answer.prefix(60)); \(String(decoding: request.prefix(300), as: UTF8.self))"
                )
            }
            print(
                "malformed requests: \(count), answers \(statuses.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" })"
            )
            #expect(server.isRunning)
            #expect(server.memory < before + (128 << 20))
            #expect(try await ada.get("/friends").status == 200)
        }
    }
}
