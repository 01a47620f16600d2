#if HTTPClientSupport
import Access
import AsyncAlgorithms
import AsyncHTTPClient
import Broker
import Bytes
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import Synchronization

/// One request of the program and its answer.
struct Exchange {
    typealias Answers = any AnswerWriter

    /// Why a request does not go out.
    struct Refusal: Error {
        var status: HTTPResponseStatus
        var reason: String
        /// Where the request was to go, if that is known only from the request itself.
        var server: (host: String, port: Int)?
    }

    let broker: RequestBroker
    let server: (host: String, port: Int)?
    let request: IncomingRequest

    /// What a body that gets a secret may have in bytes; it is held as a whole.
    private static let longestBody = 16 << 20

    init(_ broker: RequestBroker, _ server: (host: String, port: Int)?, _ request: IncomingRequest) {
        self.broker = broker
        self.server = server
        self.request = request
    }

    /// - Returns: Whether another request may follow on the connection.
    func run(_ answers: Answers) async throws -> Bool {
        let target: BrokerRequest
        let uri: String
        do { (target, uri) = try self.target() } catch {
            await record(record(of: error))
            return try await refuse(answers, error)
        }
        var account = Account(
            record: BrokeredRequest(
                .passed, host: target.host, port: target.port, method: target.method, path: target.path))
        do {
            let outgoing = try await prepare(target, uri, &account.record, answers)
            // A person may have said yes after the program went away.
            try Task.checkCancellation()
            try await carryWithFreshTokens(outgoing, target, uri, &account, answers)
        } catch let error as AnswerIsLong {
            await close(&account)
            throw error
        } catch {
            let isBegun = account.record.status != nil
            let refusal = note(error, &account.record)
            await close(&account)
            // An answer that was begun cannot be taken back: the connection breaks.
            guard !isBegun else { throw error }
            return try await refuse(answers, refusal)
        }
        await close(&account)
        try await answers.write(.end(nil))
        // The end of a request without a body is a moment away.
        if !request.hasBody {
            var rest = request.body.makeAsyncIterator()
            while try await rest.next() != nil {}
        }
        request.body.finish()
        return request.progress.isWhole && request.head.isKeepAlive
    }

    /// What is told of the exchange. It is told once, before the program has its whole answer.
    struct Account {
        var record: BrokeredRequest
        var isClosed = false
        /// Whether an answer that refuses an access token ends the attempt, so that another can be made.
        var isRepeatable = false
    }

    func close(_ account: inout Account) async {
        guard !account.isClosed else { return }
        account.isClosed = true
        account.record.sent = request.progress.bytes
        await record(account.record)
    }

    private func record(_ record: BrokeredRequest) async {
        request.progress.record.withLock { $0 = record }
        await broker.record(record)
    }

    /// What is recorded of a request that says nowhere where it goes, or a wrong place.
    func record(of refusal: Refusal) -> BrokeredRequest {
        let server = refusal.server ?? server
        return BrokeredRequest(
            .refused, host: server?.host ?? "", port: server?.port ?? 0, method: request.head.method.rawValue,
            reason: refusal.reason)
    }

    /// Notes why a request failed.
    ///
    /// - Returns: What the program is told.
    func note(_ error: any Error, _ record: inout BrokeredRequest) -> Refusal {
        var refusal = Self.refusal(error)
        refusal.reason = masked(refusal.reason)
        record.outcome =
            error is Refusal || error is SecretsInUse.Refusal || error is ServerAddresses.Refusal ? .refused : .failed
        record.reason = refusal.reason
        return refusal
    }

    static func refusal(_ error: any Error) -> Refusal {
        switch error {
        case let refusal as Refusal: refusal
        case let refusal as SecretsInUse.Refusal: Refusal(status: .forbidden, reason: refusal.reason)
        case let refusal as ServerAddresses.Refusal: Refusal(status: .forbidden, reason: refusal.reason)
        case let error as UntrustedServer: Refusal(status: .badGateway, reason: error.reason)
        case is CancellationError, is ChannelError:
            Refusal(status: .badGateway, reason: "the program ended the connection")
        // The description of some errors has a request's headers.
        case let error as HTTPClientError:
            Refusal(status: .badGateway, reason: "the server cannot be reached (\(error.shortDescription))")
        case let error as IOError:
            Refusal(
                status: .badGateway,
                reason: "the server cannot be reached (\(String(cString: strerror(error.errnoCode))))")
        case is NIOSSLError, is BoringSSLError:
            Refusal(
                status: .badGateway,
                reason:
                    "no authority that is known signed the certificate of the server: if it has one of its own, name "
                    + "its file with --broker-authority")
        // The text of other errors may have a part of the request.
        default: Refusal(status: .badGateway, reason: "the server cannot be reached (\(type(of: error)))")
        }
    }

    private func refuse(_ answers: Answers, _ refusal: Refusal) async throws -> Bool {
        request.body.finish()
        let text = ByteBuffer(string: "keychain: \(refusal.reason)\n")
        var headers: HTTPHeaders = [
            "Content-Type": "text/plain; charset=utf-8", "Content-Length": "\(text.readableBytes)",
            "Connection": "close",
        ]
        if refusal.status == .proxyAuthenticationRequired {
            headers.add(name: "Proxy-Authenticate", value: "Basic realm=\"keychain\"")
        }
        try await answers.write(
            .head(HTTPResponseHead(version: .http1_1, status: refusal.status, headers: headers)))
        if request.head.method != .HEAD { try await answers.write(.body(.byteBuffer(text))) }
        try await answers.write(.end(nil))
        return false
    }

    // MARK: Where it goes

    func target() throws(Refusal) -> (BrokerRequest, uri: String) {
        let head = request.head
        guard head.method != .CONNECT, head.method != .TRACE else {
            throw Self.malformed("\(head.method.rawValue) is no method for a server")
        }
        let (host, port, uri): (String, Int, String)
        if let server {
            guard head.uri.hasPrefix("/") else { throw Self.malformed("its target is no path") }
            (host, port, uri) = (server.host, server.port, head.uri)
        } else {
            guard broker.isAuthentic(head) else {
                throw Refusal(
                    status: .proxyAuthenticationRequired,
                    reason: "this proxy serves the program that `keychain run` started")
            }
            guard head.uri.lowercased().hasPrefix("http://") else {
                throw Self.malformed("a proxy takes http://HOST/PATH, and CONNECT for all else")
            }
            let rest = head.uri.dropFirst(7)
            let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
            guard let authority = BrokerDestination.authority(String(rest[..<end]), standard: 80) else {
                throw Self.malformed("its target names no server")
            }
            (host, port) = authority
            uri = rest[end...].hasPrefix("/") ? String(rest[end...]) : "/" + rest[end...]
            if case .refuse(let reason) = broker.plan(host, port) {
                throw Refusal(status: .forbidden, reason: reason, server: authority)
            }
        }
        guard uri.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x23 }),
            BrokerDestination.isDecodable(uri)
        else { throw Self.malformed("its target has characters that no target has, or is not in UTF-8") }
        let hosts = head.headers["host"]
        guard hosts.count == 1,
            let (name, number) = BrokerDestination.authority(hosts[0], standard: server == nil ? 80 : 443),
            name == host, number == port
        else { throw Refusal(status: .misdirectedRequest, reason: "its header Host names another server than \(host)") }
        guard head.version == .http1_1 || head.version == .http1_0 else { throw Self.malformed("it is not HTTP/1.1") }
        let path = String(uri.prefix { $0 != "?" })
        return (
            BrokerRequest(isSecure: server != nil, host: host, port: port, method: head.method.rawValue, path: path),
            uri
        )
    }

    private static func malformed(_ reason: String) -> Refusal { Refusal(status: .badRequest, reason: reason) }

    // MARK: What goes out

    /// A request as it goes out.
    struct Outgoing {
        var request: HTTPClientRequest
        /// The path and the query.
        var uri: String
        /// The rules whose secret it has and which keep tokens of its answer, by their numbers.
        var keeping: [Int] = []
        /// The tokens that it has. Others may take their place before the answer comes.
        var kept: [SecretBytes] = []
    }

    /// Puts secrets into the request.
    ///
    /// - Parameter answers: Nil for one without a body.
    func prepare(
        _ target: BrokerRequest, _ uri: String, _ record: inout BrokeredRequest, _ answers: Answers?
    ) async throws -> Outgoing {
        let isOfRule = broker.isOfRule(target.host, target.port)
        let head = request.head
        let now = Date()
        // Other offers to change the protocol may be ignored (RFC 9110, 7.8).
        if answers != nil, WebSocketOffer.isAsked(for: head) {
            throw Refusal(status: .notImplemented, reason: "a WebSocket goes over TLS alone: use wss://")
        }
        let headers = Self.forwarded(head.headers, isOfRule: isOfRule)
        let first = broker.secrets.candidates(for: target, at: now)
        let places = first.reduce(into: Set<SecretPlace>()) { $0.formUnion($1.places) }
        let bodyPlace = Self.bodyPlace(of: headers, among: places)
        if head.headers.first(name: "expect")?.lowercased() == "100-continue" {
            try await answers?.write(.head(HTTPResponseHead(version: .http1_1, status: .continue)))
        }
        var sent = signedRequest(uri, head.headers)
        let isBodySigned = places.contains(.aws) && AWSSignature(sent)?.coversBody(of: sent) == true
        let body = bodyPlace == nil && !isBodySigned ? nil : try await wholeBody()
        sent.body = body
        var kept: [SecretBytes] = []
        // Once to see which secrets it wants, and once with them.
        var placed = try place(SecretPlacement(first), uri, headers, body, bodyPlace, sent, target)
        if !placed.placement.wanted.isEmpty {
            let values = try await broker.secrets.letOut(placed.placement.wanted, for: target)
            kept = values.filter { broker.secrets.isKept($0.key) }.map(\.value)
            record.secrets = broker.secrets.variables(of: values.keys)
            placed = try place(
                SecretPlacement(broker.secrets.candidates(for: target, at: now, values: values)), uri, headers, body,
                bodyPlace, sent, target)
            record.outcome = .placed
            if let signature = placed.placement.signature {
                // With it, the program could send the request once more without the broker.
                let mask = try broker.secrets.mask(with: [SecretBytes(signature)])
                request.progress.mask.withLock { $0 = mask }
            }
            try checkSource(in: placed.headers, of: placed.placement.wanted, target)
        } else if let stray = placed.placement.strays.first {
            record.secrets = broker.secrets.variables(of: placed.placement.strays.map(\.number))
            record.outcome = .stray
            record.reason = broker.secrets.explanation(stray.number, target, in: stray.place, at: now)
        }
        let name = BrokerDestination.urlHost(target.host)
        var outgoing = HTTPClientRequest(
            url: "\(target.isSecure ? "https" : "http")://\(name):\(target.port)\(placed.uri)")
        outgoing.method = head.method
        // AsyncHTTPClient adds the header Host, of the URL.
        outgoing.headers = placed.headers
        if let body = placed.body {
            outgoing.body = .bytes(ByteBuffer(bytes: body))
        } else if let length = head.headers.first(name: "content-length").flatMap({ Int64($0) }) {
            if length > 0 { outgoing.body = .stream(request.body, length: .known(length)) }
        } else if head.headers.contains(name: "transfer-encoding") {
            outgoing.body = .stream(request.body, length: .unknown)
        }
        let keeping = Set(placed.placement.wanted.map { $0 % broker.secrets.rules.count })
        return Outgoing(
            request: outgoing, uri: placed.uri,
            keeping: keeping.filter { !broker.secrets.rules[$0].keeps.isEmpty }.sorted(), kept: kept)
    }

    private func place(
        _ placement: SecretPlacement, _ uri: String, _ headers: HTTPHeaders, _ body: [UInt8]?,
        _ bodyPlace: SecretPlace?, _ sent: SignedRequest, _ target: BrokerRequest
    ) throws(Refusal) -> (placement: SecretPlacement, uri: String, headers: HTTPHeaders, body: [UInt8]?) {
        var placement = placement
        let uri = placement.target(uri)
        var changed = HTTPHeaders()
        for (name, value) in headers { changed.add(name: name, value: placement.header(name.lowercased(), value)) }
        let body = body.map {
            switch bodyPlace {
            case .json: placement.json($0)
            case .form: placement.form($0)
            default: $0
            }
        }
        // What a signature covers is known only now.
        var outgoing = signedRequest(uri, changed)
        outgoing.headers.append(("Host", Self.host(of: target)))
        outgoing.body = body
        do {
            let result = try placement.sign(sent, outgoing)
            changed = HTTPHeaders(result.headers.dropLast().map { ($0.name, $0.value) })
            return (placement, result.target, changed, body)
        } catch {
            throw Refusal(status: .forbidden, reason: error.reason)
        }
    }

    /// Checks that a rule covers what a request to S3 reads beside its path.
    private func checkSource(in headers: HTTPHeaders, of wanted: Set<Int>, _ target: BrokerRequest) throws(Refusal) {
        let rules = wanted.map { broker.secrets.rule($0) }.filter { $0.places.contains(.aws) }
        for (name, value) in headers where Self.sources.contains(name.lowercased()) && !rules.isEmpty {
            guard let source = AWSSignature.source(value, of: target) else {
                throw Refusal(
                    status: .forbidden,
                    reason: "\(name.lowercased()) names another bucket than \(target.host), or this is no name of a "
                        + "server of S3: its first or second part is 's3'")
            }
            guard rules.allSatisfy({ $0.covers(source) }) else {
                throw Refusal(status: .forbidden, reason: "no rule covers what \(name.lowercased()) names")
            }
        }
    }

    /// Headers of S3 that name another object to read.
    private static let sources: Set<String> = ["x-amz-copy-source", "x-amz-rename-source"]

    /// What a signature may cover, but for the body.
    private func signedRequest(_ uri: String, _ headers: HTTPHeaders) -> SignedRequest {
        SignedRequest(
            method: request.head.method.rawValue, target: uri, headers: headers.map { ($0.name, $0.value) }, body: nil)
    }

    /// The header `Host` as AsyncHTTPClient writes it.
    private static func host(of target: BrokerRequest) -> String {
        let name = BrokerDestination.urlHost(target.host)
        return target.port == (target.isSecure ? 443 : 80) ? name : "\(name):\(target.port)"
    }

    /// Whether the body may get a secret.
    private static func bodyPlace(of headers: HTTPHeaders, among places: Set<SecretPlace>) -> SecretPlace? {
        let kind = headers.first(name: "content-type")?.lowercased().prefix { $0 != ";" }.filter { $0 != " " } ?? ""
        if places.contains(.json), kind == "application/json" || kind.hasSuffix("+json") { return .json }
        return places.contains(.form) && kind == "application/x-www-form-urlencoded" ? .form : nil
    }

    private func wholeBody() async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await piece in request.body {
            guard bytes.count + piece.readableBytes <= Self.longestBody else {
                throw Refusal(
                    status: .payloadTooLarge,
                    reason: "a body that may get a secret has more than \(Self.longestBody >> 20) MiB")
            }
            bytes += piece.readableBytesView
        }
        return bytes
    }

    static let ofTheConnection: Set<String> = [
        "connection", "keep-alive", "proxy-authorization", "proxy-authenticate", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade", "expect", "content-length", "http2-settings", "alt-svc",
    ]

    private static let overriding: Set<String> = [
        "forwarded", "x-http-method", "x-http-method-override", "x-method-override", "x-original-url", "x-rewrite-url",
        "x-original-host", "x-host",
    ]

    private static func forwarded(_ headers: HTTPHeaders, isOfRule: Bool) -> HTTPHeaders {
        let named = headers[canonicalForm: "connection"].map { $0.lowercased() }
        var result = HTTPHeaders()
        for (name, value) in headers {
            let lower = name.lowercased()
            guard !ofTheConnection.contains(lower), !named.contains(lower), lower != "host" else { continue }
            // Servers take another method, path or host from these.
            if isOfRule, overriding.contains(lower) || lower.hasPrefix("x-forwarded-") { continue }
            // The answer is read, and a part of it could be a part of a secret.
            if isOfRule, ["accept-encoding", "range", "if-range"].contains(lower) { continue }
            result.add(name: name, value: value)
        }
        if isOfRule {
            result.add(name: "Accept-Encoding", value: "identity")
        }
        return result
    }
}
#endif
