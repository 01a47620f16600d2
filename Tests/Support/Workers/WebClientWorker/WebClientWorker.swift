#if HTTPClientSupport
import AsyncHTTPClient
import Foundation
import FoundationNetworking
import NIOCore
import NIOHTTP1

/// Clients of Swift that use a secret through a broker, and keep all that they receive:
///
///     WebClientWorker HOST:PORT FILE
///
/// It does what broker_clients.py does, with URLSession and AsyncHTTPClient.
@main struct WebClientWorker {
    private static let echoes = [
        "echo", "headers", "bytes", "chunks", "chunks?seed=3", "gzip", "deflate", "base64", "percent", "json", "hex",
        "sse",
    ]

    private struct Failed: Error { var text: String }

    static func main() async throws {
        let token = ProcessInfo.processInfo.environment["TOKEN"] ?? ""
        let session = try await kept("URLSession", token, withURLSession)
        let client = HTTPClient(configuration: configuration())
        let other: [Data]
        do {
            other = try await kept("AsyncHTTPClient", token) { try await ask($0, $1, client) }
        } catch {
            try await client.shutdown()
            throw error
        }
        say("kept \(ProcessInfo.processInfo.processIdentifier)")
        while !FileManager.default.fileExists(atPath: CommandLine.arguments[2]) {
            try await Task.sleep(for: .milliseconds(50))
        }
        withExtendedLifetime((session, other)) {}
        try await client.shutdown()
    }

    private static func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

    private static func kept(
        _ name: String, _ token: String, _ ask: @Sendable (String, String) async throws -> (Int, Data)
    ) async throws -> [Data] {
        var kept: [Data] = []
        let pair = Data("alice:\(token)".utf8).base64EncodedString()
        for (path, authorization) in [("basic", "Basic \(pair)")] + echoes.map({ ($0, "Bearer \(token)") }) {
            let (status, body) = try await ask(path, authorization)
            guard status == 200 else {
                throw Failed(text: "\(name) \(path): \(status) \(String(decoding: body, as: UTF8.self))")
            }
            kept.append(body)
        }
        guard kept.contains(where: { $0.range(of: Data("********".utf8)) != nil }) else { throw Failed(text: name) }
        say("\(name) was let in")
        return kept
    }

    @Sendable private static func withURLSession(_ path: String, _ authorization: String) async throws -> (Int, Data) {
        guard let url = URL(string: "https://\(CommandLine.arguments[1])/\(path)") else { throw Failed(text: path) }
        var request = URLRequest(url: url)
        request.setValue(authorization, forHTTPHeaderField: "Authorization")
        let (body, response) = try await URLSession.shared.data(for: request)
        guard let answer = response as? HTTPURLResponse else { throw Failed(text: "no answer of HTTP") }
        return (answer.statusCode, Data("\(answer.allHeaderFields)".utf8) + body)
    }

    /// This client does not read the variable of the proxy.
    private static func configuration() -> HTTPClient.Configuration {
        let environment = ProcessInfo.processInfo.environment
        var configuration = HTTPClient.Configuration()
        if let proxy = environment["HTTPS_PROXY"].flatMap(URLComponents.init), let host = proxy.host,
            let port = proxy.port
        {
            configuration.proxy = .server(
                host: host, port: port,
                authorization: .basic(username: proxy.user ?? "", password: proxy.password ?? ""))
        }
        return configuration
    }

    private static func ask(
        _ path: String, _ authorization: String, _ client: HTTPClient
    ) async throws -> (Int, Data) {
        var request = HTTPClientRequest(url: "https://\(CommandLine.arguments[1])/\(path)")
        request.headers.add(name: "Authorization", value: authorization)
        let answer = try await client.execute(request, timeout: .seconds(60))
        let body = try await answer.body.collect(upTo: 1 << 20)
        return (Int(answer.status.code), Data("\(answer.headers)".utf8) + Data(body.readableBytesView))
    }
}
#else
/// Without the trait `HTTPClientSupport`, there is no client of HTTP.
@main struct WebClientWorker {
    static func main() { print("WebClientWorker: this program was built without the trait HTTPClientSupport") }
}
#endif
