import Credentials
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCredentials
import HummingbirdTesting
import Testing

struct SessionMiddlewareTests {
    @Test func cookieOfASignIn() async throws {
        let shop = Shop()
        try await shop.test { client in
            #expect(try await client.get("/").text == "nobody")
            let token = try await shop.tokens.issue(for: "ada")
            let answer = try await client.get("/", cookie: "other=1; __Host-session=\(token.text)")
            #expect(answer.text == "ada")
            #expect(answer.cookie("__Host-session") == nil)
        }
    }

    @Test func attributes() throws {
        var response = Response(status: .ok)
        SessionCookie().set(SessionToken(), for: .seconds(60), in: &response)
        let text = try #require(response.headers[.setCookie])
        for part in ["Secure", "HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=60"] {
            #expect(text.split(separator: "; ").contains(Substring(part)), "\(part)")
        }
        #expect(!text.contains("Domain"))
        #expect(SessionCookie(name: "a; b=c\r\nd", isSecure: false).name == "abcd")
    }

    @Test(arguments: ["x", "", String(repeating: "A", count: 43), String(repeating: "x", count: 10_000)])
    func badTokensAreTakenAway(_ text: String) async throws {
        try await Shop().test { client in
            let answer = try await client.get("/", cookie: "__Host-session=\(text)")
            #expect(answer.text == "nobody")
            #expect(answer.cookie("__Host-session") == (text.isEmpty ? nil : ""))
        }
    }

    @Test func rotation() async throws {
        let shop = Shop(.init(idle: .seconds(1_000), whole: .seconds(1_000), rotation: .zero, grace: .seconds(1_000)))
        try await shop.test { client in
            let token = try await shop.tokens.issue(for: "ada")
            let newer = try #require(
                try await client.get("/", cookie: "__Host-session=\(token.text)").cookie("__Host-session"))
            #expect(newer != token.text && newer.count == 43)
            #expect(try await client.get("/", cookie: "__Host-session=\(newer)").text == "ada")
        }
    }

    @Test func whoIsNotSignedIn() async throws {
        let shop = Shop()
        try await shop.test { client in
            let sent = try await client.get("/orders")
            #expect(sent.status == .seeOther)
            #expect(sent.headers[.location] == "/")
            #expect(try await client.get("/prices").status == .unauthorized)
            let token = try await shop.tokens.issue(for: "ada")
            let answer = try await client.get("/orders", cookie: "__Host-session=\(token.text)")
            #expect(answer.text == "none")
            #expect(answer.headers[.cacheControl] == "no-store")
        }
    }

    /// A store that fails is not taken for somebody who is signed out.
    @Test func storeThatFails() async throws {
        struct Broken: SessionStore {
            struct Failure: Error {}
            func session(_ hash: Data) async throws -> SignInSession? { throw Failure() }
            func insert(_ session: SignInSession) async throws {}
            func noteShown(_ hash: Data) async throws {}
            func replace(_ old: Data, newest: Data, with new: SignInSession) async throws -> Bool { false }
            func removeFamily(_ family: UUID) async throws {}
            func removeAll(of account: String) async throws {}
            func removeExpired(issuedBefore date: Date, begunBefore begun: Date) async throws {}
        }
        let router = Router(context: ShopContext.self)
        router.add(middleware: SessionMiddleware(tokens: SessionTokens(store: Broken())))
        router.get("/") { _, _ in "hello" }
        try await Application(router: router).test(.router) { client in
            let answer = try await client.get("/", cookie: "__Host-session=\(SessionToken().text)")
            #expect(answer.status == .internalServerError)
            #expect(answer.cookie("__Host-session") == nil)
        }
    }

    @Test func headers() async throws {
        try await Shop().test { client in
            for uri in ["/", "/prices", "/nowhere"] {
                let headers = try await client.get(uri).headers
                #expect(headers[.contentSecurityPolicy]?.contains("default-src 'none'") == true, "\(uri)")
                #expect(headers[.xContentTypeOptions] == "nosniff")
                #expect(headers[.strictTransportSecurity] != nil)
            }
        }
    }
}
