import Credentials
import Foundation
import Hummingbird
import HummingbirdCredentials
import HummingbirdTesting
import TestSupport
import Testing

/// What Documentation/Use/Hummingbird.md shows in Swift is run here.
struct HummingbirdGuideTests {
    struct ShopContext: FormRequestContext {
        var coreContext: CoreRequestContextStorage
        var signedIn: SignedIn?
        var formBinding = ""
        var requestDecoder: URLEncodedFormDecoder { URLEncodedFormDecoder() }

        init(source: Source) { coreContext = .init(source: source) }
    }

    struct SignInForm: Decodable {
        var account: String
    }

    @Test func examples() async throws {
        @Sendable func page(_ text: String) -> String { text }
        @Sendable func account(of form: SignInForm) async throws -> String? { form.account == "ada" ? "ada" : nil }

        let tokens = SessionTokens(store: MemorySessionStore())
        let forms = FormTokens()
        let cookie = SessionCookie()

        let router = Router(context: ShopContext.self)
        router.add(middleware: SecurityHeaders())
        router.add(middleware: SessionMiddleware(tokens: tokens, cookie: cookie))
        router.add(middleware: FormMiddleware(tokens: forms))
        router.get("/sign-in") { _, context in
            page(#"<form method="post"><input type="hidden" name="form_token" value="\#(forms.field(for: context))">…"#)
        }
        router.post("/sign-in") { request, context in
            let form = try await request.decode(as: SignInForm.self, context: context)
            guard let account = try await account(of: form) else { return Response(status: .unprocessableContent) }
            var response = Response.redirect(to: "/orders")
            cookie.set(try await tokens.issue(for: account), in: &response)
            return response
        }
        let members = router.group().add(middleware: SignInRequired(redirectingTo: "/sign-in"))
        members.get("/orders") { _, context in "Orders of \(context.signedIn?.account ?? "")" }

        try await Application(router: router).test(.router) { client in
            let page = try await client.get("/sign-in")
            let visitor = "__Host-visitor=\(try #require(page.cookie("__Host-visitor")))"
            let token = try #require(page.text.firstMatch(of: /value="([^"]*)"/)?.output.1)
            let wrong = try await client.post("/sign-in", "account=eve&form_token=\(token)", cookie: visitor)
            #expect(wrong.status == .unprocessableContent)
            let right = try await client.post("/sign-in", "account=ada&form_token=\(token)", cookie: visitor)
            #expect(right.headers[.location] == "/orders")
            let session = "__Host-session=\(try #require(right.cookie("__Host-session")))"
            #expect(try await client.get("/orders", cookie: session).text == "Orders of ada")
            #expect(try await client.get("/orders").headers[.location] == "/sign-in")
        }
    }

    @Test func everyExampleIsRun() throws {
        let (examples, missing) = try Guide.missingLines(of: "Use/Hummingbird.md", in: #filePath)
        #expect(examples == 2 && missing == [])
    }
}
