import Credentials
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCredentials
import HummingbirdTesting
import Synchronization

/// What the tests' server knows of a request.
struct ShopContext: FormRequestContext {
    var coreContext: CoreRequestContextStorage
    var signedIn: SignedIn?
    var formBinding = ""

    init(source: Source) { coreContext = .init(source: source) }
}

/// A server as small as can be that signs people in.
struct Shop {
    let store = MemorySessionStore()
    let tokens: SessionTokens
    let forms = FormTokens()
    let cookie = SessionCookie()

    init(_ lifetimes: SessionTokens.Lifetimes = .standard) {
        tokens = SessionTokens(store: store, lifetimes: lifetimes)
    }

    func test(_ body: @escaping @Sendable (any TestClientProtocol) async throws -> Void) async throws {
        let router = Router(context: ShopContext.self)
        router.add(middleware: SecurityHeaders())
        router.add(middleware: SessionMiddleware(tokens: tokens, cookie: cookie, lifetime: .seconds(60)))
        router.add(middleware: FormMiddleware(tokens: forms, limit: 1_000))
        let (tokens, cookie, forms) = (tokens, cookie, forms)
        router.get("/") { _, context in context.signedIn?.account ?? "nobody" }
        router.get("/form") { _, context in forms.field(for: context) }
        router.post("/sign-in") { _, _ in
            var response = Response(status: .ok)
            cookie.set(try await tokens.issue(for: "ada"), in: &response)
            return response
        }
        router.post("/order") { request, context in
            "\(context.signedIn?.account ?? "nobody") \(try await request.decode(as: Order.self, context: context).item ?? "")"
        }
        let members = router.group().add(middleware: SignInRequired(redirectingTo: "/"))
        members.get("/orders") { _, _ in "none" }
        router.group().add(middleware: SignInRequired()).get("/prices") { _, _ in "high" }
        try await Application(router: router).test(.router, body)
    }

    struct Order: Decodable {
        var item: String?
    }
}

extension ShopContext {
    var requestDecoder: URLEncodedFormDecoder { URLEncodedFormDecoder() }
}

extension TestResponse {
    /// The value that a cookie was given; nil for one that was not.
    func cookie(_ name: String) -> String? {
        headers[values: .setCookie].first { $0.hasPrefix(name + "=") }?
            .dropFirst(name.count + 1).prefix { $0 != ";" }.description
    }

    var text: String { String(buffer: body) }
}

extension TestClientProtocol {
    func get(_ uri: String, cookie: String? = nil) async throws -> TestResponse {
        try await execute(uri: uri, method: .get, headers: cookie.map { [.cookie: $0] } ?? [:])
    }

    /// Sends a form.
    func post(
        _ uri: String, _ form: String, cookie: String? = nil, headers: HTTPFields = [:]
    ) async throws -> TestResponse {
        var fields: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
        fields[.cookie] = cookie
        for field in headers { fields[field.name] = field.value }
        return try await execute(uri: uri, method: .post, headers: fields, body: ByteBuffer(string: form))
    }
}
