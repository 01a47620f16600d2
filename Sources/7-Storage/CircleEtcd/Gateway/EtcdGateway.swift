#if HTTPClientSupport
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// Speaks with a cluster of etcd through the JSON gateway that each of its nodes has.
///
/// One node at a time is asked; when it fails, the caller goes on to the next one.
package actor EtcdGateway {
    /// The user of etcd in whose name the gateway is asked.
    package struct User: Sendable {
        package var name: String
        package var password: String

        package init(name: String, password: String) { (self.name, self.password) = (name, password) }
    }

    private let http: HTTPClient
    private let endpoints: [String]
    private let user: User?
    private var current: Int
    private var token: String?

    /// How long a node may take to begin an answer. Without a majority, etcd itself gives up after 7 seconds.
    static let patience = TimeAmount.seconds(10)
    /// How long it may then take to send the answer.
    private let bodyPatience: Duration
    /// The longest answer in bytes. A page that is longer is asked for in parts.
    private let longest: Int
    package static let longest = 64 << 20

    /// - Parameters:
    ///   - endpoints: Addresses of nodes, such as `https://etcd-1.example.com:2379`; at least one.
    ///   - http: With the certificates of client and servers. Its owner shuts it down.
    package init(
        _ endpoints: [String], user: User? = nil, over http: HTTPClient, bodyPatience: Duration = .seconds(30),
        longest: Int = EtcdGateway.longest
    ) {
        (self.bodyPatience, self.longest) = (bodyPatience, longest)
        self.endpoints = endpoints.isEmpty ? ["http://127.0.0.1:2379"] : endpoints
        (self.user, self.http) = (user, http)
        // So that the members of a circle divide among the nodes.
        current = Int.random(in: 0..<max(1, endpoints.count))
    }

    /// The node that is asked now.
    package var endpoint: String { endpoints[current] }

    /// Goes on to another node.
    package func advance() {
        current = (current + 1) % endpoints.count
        token = nil
    }

    // MARK: Calls

    func range(_ request: EtcdRange) async throws(EtcdError) -> EtcdRange.Reply {
        try await call("/v3/kv/range", request)
    }

    func transaction(_ request: EtcdTransaction) async throws(EtcdError) -> EtcdTransaction.Reply {
        try await call("/v3/kv/txn", request)
    }

    /// - Returns: The number of a lease that ends after some seconds, with what was put under it.
    func lease(seconds: Int64) async throws(EtcdError) -> EtcdNumber {
        let reply: EtcdLease.Reply = try await call("/v3/lease/grant", EtcdLease(TTL: EtcdNumber(seconds)))
        return reply.ID ?? EtcdNumber(0)
    }

    /// Whether the present node says within two seconds that it is well.
    func isHealthy() async -> Bool {
        let answer = try? await http.execute(HTTPClientRequest(url: endpoint + "/health"), timeout: .seconds(2))
        return answer?.status.code == 200
    }

    private func call<Request: Encodable, Reply: Decodable>(
        _ path: String, _ request: Request
    ) async throws(EtcdError) -> Reply {
        let endpoint = endpoint
        let body: Data
        do { body = try JSONEncoder().encode(request) } catch {
            throw .malformed(endpoint: endpoint, reason: "\(error)")
        }
        let answer = try await answer(path, body)
        do { return try JSONDecoder().decode(Reply.self, from: answer) } catch {
            throw .malformed(
                endpoint: endpoint, reason: "\(path) answered with something that is not a message of etcd")
        }
    }

    private func answer(_ path: String, _ body: Data) async throws(EtcdError) -> Data {
        let endpoint = endpoint
        var isFresh = false
        while true {
            if user != nil, token == nil {
                try await logIn()
                isFresh = true
            }
            let used = token
            let (status, bytes): (UInt, Data)
            do {
                let response = try await http.execute(
                    self.request(endpoint + path, body, used), timeout: Self.patience)
                status = response.status.code
                bytes = try await self.bytes(of: response, most: longest)
            } catch is NIOTooManyBytesError {
                throw .tooLong(endpoint: endpoint)
            } catch { throw .unreachable(endpoint: endpoint, reason: Self.reason(error)) }
            guard status != 200 else { return bytes }
            let fault = Self.fault(status, bytes, endpoint)
            // A token ends some time after its last use, and with the node that gave it.
            guard user != nil, !isFresh, Self.meansLogIn(status, bytes) else { throw fault }
            if token == used { token = nil }
        }
    }

    private func logIn() async throws(EtcdError) {
        guard let user else { return }
        let endpoint = endpoint
        do {
            let body = try JSONEncoder().encode(EtcdLogin(name: user.name, password: user.password))
            let response = try await http.execute(
                request(endpoint + "/v3/auth/authenticate", body, nil), timeout: Self.patience)
            let bytes = try await self.bytes(of: response, most: 1 << 20)
            guard response.status.code == 200 else { throw Self.fault(response.status.code, bytes, endpoint) }
            token = try JSONDecoder().decode(EtcdLogin.Reply.self, from: bytes).token
        } catch let error as EtcdError {
            throw error
        } catch { throw .unreachable(endpoint: endpoint, reason: Self.reason(error)) }
    }

    private func request(_ url: String, _ body: Data, _ token: String?) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        if let token { request.headers.add(name: "Authorization", value: token) }
        request.body = .bytes(ByteBuffer(bytes: body))
        return request
    }

    private func bytes(of response: HTTPClientResponse, most: Int) async throws -> Data {
        let bodyPatience = bodyPatience
        // A node that stops in the middle of an answer is given up.
        return try await withThrowingTaskGroup(of: Data?.self) { group in
            defer { group.cancelAll() }
            group.addTask { Data(try await response.body.collect(upTo: most).readableBytesView) }
            group.addTask {
                try await Task.sleep(for: bodyPatience)
                return nil
            }
            guard let bytes = try await group.next() ?? nil else {
                throw EtcdError.unreachable(
                    endpoint: response.url?.absoluteString ?? "etcd", reason: "its answer does not end")
            }
            return bytes
        }
    }

    private static func meansLogIn(_ status: UInt, _ bytes: Data) -> Bool {
        let text = String(decoding: bytes.prefix(1_024), as: UTF8.self)
        return status == 401 || text.contains("invalid auth token")
    }

    private static func fault(_ status: UInt, _ bytes: Data, _ endpoint: String) -> EtcdError {
        let fault = try? JSONDecoder().decode(EtcdFault.self, from: bytes)
        let text = fault?.text ?? String(decoding: bytes.prefix(200), as: UTF8.self)
        return Self.error(text, code: fault?.code ?? fault?.grpc_code, status: status, endpoint)
    }

    /// - Parameter code: A code of gRPC: 7 permission denied, 11 out of range, 16 unauthenticated.
    static func error(
        _ text: String, code: Int?, status: UInt?, _ endpoint: String
    ) -> EtcdError {
        if text.contains("required revision has been compacted") { return .compacted }
        if code == 7 || code == 16 || text.contains("permission denied") || text.contains("user name is empty")
            || text.contains("authentication failed") || text.contains("CommonName")
        {
            return .notPermitted(endpoint: endpoint, reason: text)
        }
        return .unavailable(endpoint: endpoint, reason: text.isEmpty ? "status \(status ?? 0)" : text)
    }

    static func reason(_ error: any Error) -> String {
        let text = "\(error)"
        if text.contains("Connection refused") { return "connection refused" }
        if text.contains("CERTIFICATE_VERIFY_FAILED") {
            return
                "its certificate does not lead to one that this machine trusts: name that of its authority with --authority"
        }
        if text.contains("ALERT_BAD_CERTIFICATE") || text.contains("ALERT_CERTIFICATE_REQUIRED") {
            return "it accepts no client without a certificate of its own authority: name one with --certificate"
        }
        return switch error {
        case let error as HTTPClientError: error.shortDescription
        case let error as EtcdError: error.description
        default: "\(error)"
        }
    }

    // MARK: Watching

    /// Watches ranges over one connection.
    ///
    /// The stream ends with an error when the connection does, and when the node has no leader for 5 seconds.
    func watch(_ requests: [EtcdWatchRequest]) async throws(EtcdError) -> EtcdWatch {
        if user != nil, token == nil { try await logIn() }
        let endpoint = endpoint
        do {
            // One message after another is the body.
            let encoder = JSONEncoder()
            var body = Data()
            for request in requests { body += try encoder.encode(request) + Data("\n".utf8) }
            var request = request(endpoint + "/v3/watch", body, token)
            request.headers.add(name: "Grpc-Metadata-hasleader", value: "true")
            let response = try await http.execute(request, deadline: .distantFuture)
            guard response.status.code == 200 else {
                let bytes = try await self.bytes(of: response, most: 1 << 20)
                throw Self.fault(response.status.code, bytes, endpoint)
            }
            return EtcdWatch(body: response.body, endpoint: endpoint)
        } catch let error as EtcdError {
            throw error
        } catch { throw .unreachable(endpoint: endpoint, reason: Self.reason(error)) }
    }
}
#endif
