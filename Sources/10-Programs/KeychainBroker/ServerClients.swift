#if HTTPClientSupport
import AsyncHTTPClient
import NIOCore
import NIOHTTPCompression
import NIOSSL
import Synchronization

/// The clients that speak to servers: one for each name and the address that was found for it.
final class ServerClients: Sendable {
    private struct Key: Hashable {
        var host: String
        var address: String
        /// Whether answers are unpacked, to be read.
        var unpacks: Bool
    }

    private struct Entry {
        var client: HTTPClient
        var users: Int
        var lastUse: ContinuousClock.Instant
    }

    private let group: any EventLoopGroup
    private let tls: TLSConfiguration
    private let entries = Mutex<[Key: Entry]>([:])

    /// A client that nobody uses is let go when there are more.
    private static let most = 64
    /// How many bytes one packed byte may become. Servers were asked not to pack.
    private static let mostUnpacked = 100

    init(_ group: any EventLoopGroup, tls: TLSConfiguration) {
        self.group = group
        self.tls = tls
    }

    /// Calls `body` with the client for a server at this address.
    func withClient<Result>(
        for host: String, at address: String, unpacking: Bool, _ body: (HTTPClient) async throws -> Result
    ) async throws -> Result {
        let key = Key(host: host, address: address, unpacks: unpacking)
        let (client, idle) = take(key)
        for client in idle { Task { try? await client.shutdown() } }
        defer {
            entries.withLock { entries in
                entries[key]?.users -= 1
                entries[key]?.lastUse = .now
            }
        }
        return try await body(client)
    }

    private func take(_ key: Key) -> (HTTPClient, idle: [HTTPClient]) {
        entries.withLock { entries in
            var idle: [HTTPClient] = []
            if entries[key] == nil {
                let unused = entries.filter { $0.value.users == 0 }.sorted { $0.value.lastUse < $1.value.lastUse }
                for (old, entry) in unused.prefix(max(0, entries.count + 1 - Self.most)) {
                    entries[old] = nil
                    idle.append(entry.client)
                }
                entries[key] = Entry(client: make(key), users: 0, lastUse: .now)
            }
            entries[key]?.users += 1
            // It was put there above.
            return (entries[key]?.client ?? make(key), idle)
        }
    }

    private func make(_ key: Key) -> HTTPClient {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: .init(connect: .seconds(15)),
            decompression: key.unpacks ? .enabled(limit: .ratio(Self.mostUnpacked)) : .disabled)
        configuration.dnsOverride = [key.host: key.address]
        // As many as the program has connections to the broker.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1_024
        let host = key.host
        configuration.http1_1ConnectionDebugInitializer = { channel in
            CertificateGuard.check(channel, for: host).flatMap { StatusGuard.add(to: channel) }
        }
        configuration.http2ConnectionDebugInitializer = { CertificateGuard.check($0, for: host) }
        configuration.http2StreamChannelDebugInitializer = { StreamStatusGuard.add(to: $0) }
        // An answer that was begun is the program's to ask for again.
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroup: group, configuration: configuration)
    }

    func shutdown() async {
        let all = entries.withLock { entries in
            defer { entries = [:] }
            return entries.values.map(\.client)
        }
        for client in all { try? await client.shutdown() }
    }
}
#endif
