import Credentials
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCredentials
import HummingbirdTesting
import Testing

struct FormMiddlewareTests {
    /// A visitor's cookie, and a token of a form that was made for it.
    private func visitor(_ client: any TestClientProtocol) async throws -> (cookie: String, token: String) {
        let page = try await client.get("/form")
        let cookie = try #require(page.cookie("__Host-visitor"))
        return ("__Host-visitor=\(cookie)", page.text)
    }

    @Test func formOfAVisitor() async throws {
        try await Shop().test { client in
            let (cookie, token) = try await visitor(client)
            let answer = try await client.post("/order", "item=tea&form_token=\(token)", cookie: cookie)
            #expect(answer.text == "nobody tea")
            // Who has a cookie keeps it.
            #expect(try await client.get("/form", cookie: cookie).cookie("__Host-visitor") == nil)
        }
    }

    @Test func formOfSomebodySignedIn() async throws {
        let shop = Shop()
        try await shop.test { client in
            let ada = "__Host-session=\(try await shop.tokens.issue(for: "ada").text)"
            let bob = "__Host-session=\(try await shop.tokens.issue(for: "bob").text)"
            let token = try await client.get("/form", cookie: ada).text
            #expect(try await client.post("/order", "item=tea&form_token=\(token)", cookie: ada).text == "ada tea")
            #expect(try await client.post("/order", "item=tea&form_token=\(token)", cookie: bob).status == .forbidden)
            #expect(try await client.post("/order", "item=tea&form_token=\(token)").status == .forbidden)
        }
    }

    @Test func whatIsNoToken() async throws {
        try await Shop().test { client in
            let (cookie, token) = try await visitor(client)
            var other = Array(token)
            other[20] = other[20] == "A" ? "B" : "A"
            for form in [
                "item=tea", "item=tea&form_token=", "item=tea&form_token=\(String(other))",
                "form_token=\(token.dropLast())",
                "form_token=\(token)A", "form_token[]=\(token)", "%", "form_token=%FF%FE", "",
            ] {
                #expect(try await client.post("/order", form, cookie: cookie).status == .forbidden, "\(form)")
            }
            // With the token of another visitor.
            #expect(try await client.post("/order", "form_token=\(token)").status == .forbidden)
            let another = try await visitor(client)
            #expect(try await client.post("/order", "form_token=\(token)", cookie: another.cookie).status == .forbidden)
        }
    }

    @Test func whatOtherSitesSend() async throws {
        try await Shop().test { client in
            let (cookie, token) = try await visitor(client)
            let site = HTTPField.Name("Sec-Fetch-Site")!
            func status(_ headers: HTTPFields) async throws -> HTTPResponse.Status {
                try await client.post("/order", "form_token=\(token)", cookie: cookie, headers: headers).status
            }
            #expect(try await status([site: "same-origin"]) == .ok)
            #expect(try await status([site: "none"]) == .ok)
            for foreign in ["cross-site", "same-site", "nonsense"] {
                #expect(try await status([site: foreign]) == .forbidden)
            }
            for foreign in ["https://evil.example", "null", ""] {
                #expect(try await status([.origin: foreign]) == .forbidden)
            }
        }
    }

    @Test func otherBodies() async throws {
        try await Shop().test { client in
            let (cookie, token) = try await visitor(client)
            let form = "form_token=\(token)"
            for type in ["text/plain", "application/json", "multipart/form-data; boundary=x", ""] {
                let answer = try await client.post("/order", form, cookie: cookie, headers: [.contentType: type])
                #expect(answer.status == .unsupportedMediaType, "\(type)")
            }
            let large = try await client.post(
                "/order", form + "&item=" + String(repeating: "x", count: 1_000), cookie: cookie)
            #expect(large.status == .contentTooLarge)
        }
    }

    /// Methods that nothing was said of are taken for those that change something.
    @Test(arguments: [HTTPRequest.Method.put, .delete, .patch, HTTPRequest.Method("INVENTED")!])
    func otherMethods(_ method: HTTPRequest.Method) async throws {
        try await Shop().test { client in
            let answer = try await client.execute(
                uri: "/order", method: method, headers: [.contentType: "application/x-www-form-urlencoded"], body: nil)
            #expect(answer.status == .forbidden || answer.status == .notFound)
        }
    }

    @Test func noTwoTokensAreTheSame() {
        let tokens = FormTokens()
        let made = Set((0..<1_000).map { _ in tokens.make(for: "ada") })
        #expect(made.count == 1_000)
        #expect(made.allSatisfy { tokens.isValid($0, for: "ada") && !tokens.isValid($0, for: "bob") && $0.count == 64 })
        #expect(!FormTokens().isValid(made.first ?? "", for: "ada"))
    }
}
