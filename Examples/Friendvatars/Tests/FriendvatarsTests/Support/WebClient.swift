import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL

/// Somebody who uses the app without a browser: keeps cookies, and sends the hidden field of the last page.
actor WebClient {
    struct Answer: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let bytes: Data

        var text: String { String(decoding: bytes, as: UTF8.self) }
        var location: String? { headers.first(name: "location") }
    }

    private let address: String
    var cookies: [String: String] = [:]
    /// The hidden field of the last page that had one.
    var token = ""

    init(_ server: ServerUnderTest) {
        address = server.address
    }

    func setCookie(_ name: String, _ value: String?) {
        cookies[name] = value
    }

    func get(_ path: String, headers: [String: String] = [:]) async throws -> Answer {
        try await send("GET", path, headers, nil)
    }

    /// Sends a form, with the hidden field unless `fields` has it.
    func post(_ path: String, _ fields: [String: String], headers: [String: String] = [:]) async throws -> Answer {
        var fields = fields
        if fields["form_token"] == nil { fields["form_token"] = token }
        let form = fields.map { "\(Self.escaped($0.key))=\(Self.escaped($0.value))" }.joined(separator: "&")
        var headers = headers
        if headers["content-type"] == nil { headers["content-type"] = "application/x-www-form-urlencoded" }
        return try await send("POST", path, headers, form)
    }

    func signUp(_ email: String, name: String = "Ada Lovelace", password: String = goodPassword) async throws -> Answer
    {
        _ = try await get("/sign-up")
        return try await post("/sign-up", ["email": email, "name": name, "password": password])
    }

    func signIn(_ email: String, password: String = goodPassword) async throws -> Answer {
        _ = try await get("/sign-in")
        return try await post("/sign-in", ["email": email, "password": password])
    }

    private func send(_ method: String, _ path: String, _ headers: [String: String], _ body: String?) async throws
        -> Answer
    {
        var request = HTTPClientRequest(url: address + path)
        request.method = .RAW(value: method)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if !cookies.isEmpty {
            request.headers.add(name: "cookie", value: cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; "))
        }
        request.body = body.map { .bytes(ByteBuffer(string: $0)) }
        let response = try await Self.client.execute(request, timeout: .seconds(60))
        let bytes = Data(try await response.body.collect(upTo: 4 << 20).readableBytesView)
        for cookie in response.headers[canonicalForm: "set-cookie"] {
            let parts = cookie.prefix { $0 != ";" }.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            cookies[String(parts[0])] = parts[1].isEmpty ? nil : String(parts[1])
        }
        let answer = Answer(status: Int(response.status.code), headers: response.headers, bytes: bytes)
        if let found = answer.text.firstMatch(of: /name="form_token" value="([^"]*)"/) {
            token = String(found.output.1)
        }
        return answer
    }

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    /// For all tests, as long as the process is there; it follows no redirections.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration(certificateVerification: .none)
        configuration.redirectConfiguration = .disallow
        return HTTPClient(configuration: configuration)
    }()
}
