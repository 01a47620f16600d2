import Access
import Broker
import Bytes
import CommandKit
import FoundationEssentials

/// `http_request`: a request with secrets that the agent does not have.
struct RequestTool: McpTool {
    static let name = "http_request"

    static let description: [String: JSONValue] = [
        "title": "HTTP request with a secret",
        "description": """
        Makes one HTTP request and returns the answer. Write {{NAME}} where the secret NAME belongs, such as \
        "Authorization": "Bearer {{NAME}}". The secret is put in on the way to the server, and only where \
        `list_secrets` allows it: at its servers, with its methods, in its places. The placeholder has to be the \
        whole value: of a header apart from a word such as Bearer, of a segment of the path, of a value of the query \
        or the form, of a string of JSON. A JSON body needs the header Content-Type: application/json, and a form \
        application/x-www-form-urlencoded. Secrets in answers are replaced by asterisks. Redirects are not followed: \
        ask for their target with another call.
        """,
        "inputSchema": [
            "type": "object", "additionalProperties": false, "required": ["url"],
            "properties": [
                "url": ["type": "string", "description": "https://HOST/PATH?QUERY"],
                "method": ["type": "string", "description": "GET, POST and so on; GET if left out."],
                "headers": [
                    "type": "object", "additionalProperties": ["type": "string"],
                    "description": "The headers of the request, by their names.",
                ],
                "basic_auth": [
                    "type": "object", "additionalProperties": false, "required": ["user", "password"],
                    "properties": ["user": ["type": "string"], "password": ["type": "string"]],
                    "description": "The header Authorization of HTTP Basic. Each part may be a placeholder.",
                ],
                "body": ["type": "string", "description": "The body as text."],
                "body_base64": ["type": "string", "description": "The body in Base64, instead of 'body'."],
                "max_bytes": [
                    "type": "integer", "minimum": 1, "maximum": .integer(Int64(longest)),
                    "description":
                        "How much of the answer's body is returned; \(usualLength) if left out. The rest is not fetched.",
                ],
                "timeout_seconds": [
                    "type": "integer", "minimum": 1, "maximum": .integer(Int64(longestTime)),
                    "description": "When the request ends, whatever has come; \(usualTime) if left out.",
                ],
            ],
        ],
        "annotations": [
            "readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true,
        ],
    ]

    /// Of the body of an answer, in bytes.
    static let longest = 1 << 20
    private static let usualLength = 65_536
    private static let longestTime = 600
    private static let usualTime = 60

    let broker: BrokerCalls

    func run(_ arguments: McpArguments, _ call: McpCall) throws -> McpResult {
        let request = BrokerCall(
            number: 0, method: try arguments.text("method") ?? "GET", url: try arguments.requiredText("url"),
            headers: try Self.headers(arguments),
            longest: try arguments.number("max_bytes", in: 1...Self.longest) ?? Self.usualLength,
            seconds: try arguments.number("timeout_seconds", in: 1...Self.longestTime) ?? Self.usualTime)
        let body = try Self.body(arguments)
        let names = broker.rules.map(\.variable)
        for text in [request.url] + request.headers.map(\.value) {
            guard let unknown = Self.unknown(text, names) else { continue }
            throw McpArguments.wrong("{{\(unknown)}} is no secret of list_secrets: nothing was sent")
        }
        let (answer, bytes) = try broker.make(request, body, call)
        return Self.result(answer, bytes)
    }

    /// What has the form of a placeholder of no secret. A body may have such text of its own.
    private static func unknown(_ text: String, _ names: [String]) -> String? {
        text.matches(of: /\{\{([A-Z_][A-Z0-9_]*)\}\}/).map { String($0.1) }.first { !names.contains($0) }
    }

    private static func headers(_ arguments: McpArguments) throws(Failure) -> [BrokerCall.Header] {
        var headers: [BrokerCall.Header] = []
        for (name, value) in try (arguments.object("headers") ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let value = value.string else { throw McpArguments.wrong("a header takes text") }
            headers.append(.init(name, value))
        }
        guard let pair = try arguments.object("basic_auth") else { return headers }
        let parts = try McpArguments(pair, known: ["password", "user"])
        guard !headers.contains(where: { $0.name.lowercased() == "authorization" }) else {
            throw McpArguments.wrong("'basic_auth' is the header Authorization: leave one of them out")
        }
        guard let user = try parts.text("user"), let password = try parts.text("password"), !user.contains(":") else {
            throw McpArguments.wrong("'basic_auth' takes a user without ':', and a password")
        }
        return headers + [.init("Authorization", "Basic " + Data("\(user):\(password)".utf8).base64EncodedString())]
    }

    private static func body(_ arguments: McpArguments) throws(Failure) -> [UInt8] {
        let text = try arguments.text("body")
        guard let encoded = try arguments.text("body_base64") else { return Array((text ?? "").utf8) }
        guard text == nil else { throw McpArguments.wrong("'body' and 'body_base64' exclude each other") }
        guard let body = Data(base64Encoded: encoded) else { throw McpArguments.wrong("'body_base64' is not Base64") }
        return Array(body)
    }

    // MARK: Answers

    /// The first text of an answer; the second is the body.
    private struct Head: Encodable {
        var status: Int
        /// As `Name: value`.
        var headers: [String]
        /// What the second text is: `text`, `base64`, or `none` if there is no second text.
        var body: String
        /// Of the body, in bytes.
        var bytes: Int
        /// The secrets that the request got.
        var secrets: [String]?
        /// Why the body is not whole.
        var cut: String?
        /// Why a placeholder stayed in the request.
        var placeholder: String?
    }

    private static func result(_ answer: BrokerAnswer, _ body: [UInt8]) -> McpResult {
        guard let status = answer.status else {
            let reason = (answer.end ?? "there is no answer").escapedForTerminal
            let isRefused = answer.record == nil || answer.record?.outcome == .refused
            return McpResult(
                texts: [isRefused ? "the request did not go out: \(reason)" : "the request failed: \(reason)"],
                isError: true)
        }
        let text = text(body, isCut: answer.end != nil)
        var head = Head(
            status: status, headers: answer.headers.map { "\($0.name): \($0.value)" },
            body: body.isEmpty ? "none" : text == nil ? "base64" : "text", bytes: body.count, cut: answer.end)
        switch answer.record?.outcome {
        case .stray: head.placeholder = "stayed in the request: \(answer.record?.reason ?? "no rule has it there")"
        default: head.secrets = answer.record?.secrets
        }
        let first = (try? JSON.string(head)) ?? "\(status)"
        return McpResult(texts: body.isEmpty ? [first] : [first, text ?? Data(body).base64EncodedString()])
    }

    /// - Parameter isCut: Whether the last character may lack bytes.
    /// - Returns: Nil for bytes that are no text.
    private static func text(_ body: [UInt8], isCut: Bool) -> String? {
        guard !body.contains(where: { $0 < 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }) else {
            return nil
        }
        for count in 0...(isCut ? 3 : 0) where count <= body.count {
            if let text = String(validating: body.dropLast(count), as: UTF8.self) { return text }
        }
        return nil
    }
}
