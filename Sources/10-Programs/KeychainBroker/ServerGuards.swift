#if HTTPClientSupport
import Bytes
import Certificates
import Foundation
import NIOCore
import NIOHTTP1
import NIOHPACK
import NIOHTTP2
import NIOSSL

/// Why a server is not spoken with.
struct UntrustedServer: Error {
    var reason: String
}

/// Looks at a server's certificate once more.
///
/// NIOSSL takes a certificate for the address that is dialled, too, and one that has the host in its common name alone.
/// An attacker who redirects a name could then show a certificate for the attacker's own address.
enum CertificateGuard {
    /// Checks that the server's certificate names the host (RFC 9525, 6.3).
    ///
    /// - Parameter host: In lower case. An IP address was compared by NIOSSL.
    static func check(_ channel: any Channel, for host: String) -> EventLoopFuture<Void> {
        guard (try? SocketAddress(ipAddress: host, port: 0)) == nil else {
            return channel.eventLoop.makeSucceededVoidFuture()
        }
        // A connection in clear text has no handler of TLS.
        let isSecure = channel.pipeline.containsHandler(type: NIOSSLClientHandler.self).map { true }
        return isSecure.flatMapErrorThrowing { _ in false }.flatMap { isSecure in
            isSecure ? compare(channel, host) : channel.eventLoop.makeSucceededVoidFuture()
        }
    }

    private static func compare(_ channel: any Channel, _ host: String) -> EventLoopFuture<Void> {
        channel.nioSSL_peerCertificate().flatMapThrowing { certificate in
            guard let certificate, let der = try? certificate.toDERBytes(),
                let read = try? Certificate(der: Data(der)),
                read.alternativeNames.hostNames.contains(where: { names($0, host) })
            else { throw UntrustedServer(reason: "the certificate of the server does not name \(host)") }
        }
    }

    private static func names(_ pattern: String, _ host: String) -> Bool {
        let pattern = pattern.lowercased()
        guard pattern.hasPrefix("*.") else { return pattern == host }
        let rest = host.drop { $0 != "." }
        return rest.count > 1 && rest == pattern.dropFirst()
    }
}

/// Closes a connection over HTTP/1.1 when the server sends a number that is no status. AsyncHTTPClient and NIO would
/// end the process.
final class StatusGuard: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    static func add(to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let operations = channel.pipeline.syncOperations
            let decoder = try operations.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
            try operations.addHandler(StatusGuard(), position: .after(decoder))
        }
    }

    /// RFC 9110, 15. A change of the protocol was not asked for.
    static func isStatus(_ code: Int) -> Bool { (100...599).contains(code) && code != 101 }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = Self.unwrapInboundIn(data), !Self.isStatus(Int(clamping: head.status.code)) {
            context.fireErrorCaught(UntrustedServer(reason: "the server answers with a status that is none"))
            context.close(promise: nil)
            return
        }
        context.fireChannelRead(data)
    }
}

/// The same for a stream of HTTP/2, where NIO turns the status into a number.
final class StreamStatusGuard: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload

    static func add(to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(StreamStatusGuard(), position: .first)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .headers(let frame) = Self.unwrapInboundIn(data) {
            for (name, value, _) in frame.headers where name == ":status" {
                guard value.utf8.count == 3, let code = Int(value), StatusGuard.isStatus(code) else {
                    context.fireErrorCaught(UntrustedServer(reason: "the server answers with a status that is none"))
                    context.close(promise: nil)
                    return
                }
            }
        }
        context.fireChannelRead(data)
    }
}
#endif
