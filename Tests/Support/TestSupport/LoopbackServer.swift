import Foundation
import Glibc

/// An HTTP server on a free port of the loopback interface, in this process.
///
/// Each request is answered on a thread of its own, so one that waits holds no other up.
package final class LoopbackServer: Sendable {
    package struct Request: Sendable {
        package let method: String
        package let path: String
        package let body: Data
    }

    package enum Response: Sendable {
        case body(Data)
        case status(Int, headers: [String] = [], body: Data = Data())
        /// Closes the connection without an answer.
        case nothing
        /// Begins an answer of this length that has no end.
        case endless(length: Int?)
        /// Begins an answer that has no end either, and sends it byte by byte, so that there is always news.
        case trickling
    }

    package let port: Int
    private let socket: Int32
    private let seen = Collected<Request>()
    private let accepted = Collected<Void>()

    /// Such as `http://127.0.0.1:49152`.
    package var address: String { "http://127.0.0.1:\(port)" }
    package var requests: [Request] { seen.all }
    /// How many connections there were.
    package var connections: Int { accepted.all.count }

    /// - Parameter respond: May block; the test's event must end that.
    package init(_ respond: @escaping @Sendable (Request) -> Response) throws {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = withUnsafeMutablePointer(to: &address) { pointer -> Int? in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                guard bind(socket, name, length) == 0, listen(socket, 128) == 0, getsockname(socket, name, &length) == 0
                else { return nil }
                return Int(UInt16(bigEndian: pointer.pointee.sin_port))
            }
        }
        guard let port else {
            close(socket)
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        (self.port, self.socket) = (port, socket)
        let (seen, accepted) = (seen, accepted)
        Thread.detachNewThread {
            while true {
                let connection = accept(socket, nil, nil)
                if connection < 0, errno == EINTR || errno == ECONNABORTED { continue }
                guard connection >= 0 else { return }
                accepted.append(())
                Thread.detachNewThread {
                    Self.serve(connection, seen, respond)
                    close(connection)
                }
            }
        }
    }

    deinit {
        shutdown(socket, Int32(SHUT_RDWR))
        close(socket)
    }

    private static func serve(
        _ connection: Int32, _ seen: Collected<Request>, _ respond: (Request) -> Response
    ) {
        guard let request = read(from: connection) else { return }
        seen.append(request)
        switch respond(request) {
        case .body(let body): send(200, [], body, body.count, to: connection)
        case .status(let status, let headers, let body): send(status, headers, body, body.count, to: connection)
        case .nothing: break
        case .endless(let length):
            send(200, [], Data(), length, to: connection)
            let chunk = Data(repeating: 0x30, count: 65_536)
            while transmit(chunk, to: connection) {}
        case .trickling:
            send(200, [], Data(), nil, to: connection)
            while transmit(Data([0x30]), to: connection) { usleep(2_000) }
        }
    }

    private static func read(from connection: Int32) -> Request? {
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let end = Data("\r\n\r\n".utf8)
        while true {
            if let head = bytes.range(of: end) {
                let lines = String(decoding: bytes[..<head.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
                let words = (lines.first ?? "").split(separator: " ")
                guard words.count == 3 else { return nil }
                let length =
                    lines.first { $0.lowercased().hasPrefix("content-length:") }
                    .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) } ?? 0
                if bytes.count - head.upperBound >= length {
                    return Request(
                        method: String(words[0]), path: String(words[1]),
                        body: Data(bytes[head.upperBound...].prefix(length)))
                }
            }
            let count = Glibc.read(connection, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            bytes.append(contentsOf: buffer[..<count])
        }
    }

    private static func send(
        _ status: Int, _ headers: [String], _ body: Data, _ length: Int?, to connection: Int32
    ) {
        let lines =
            ["HTTP/1.1 \(status) Answer", "Connection: close"] + (length.map { ["Content-Length: \($0)"] } ?? [])
            + headers
        _ = transmit(Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body, to: connection)
    }

    private static func transmit(_ data: Data, to connection: Int32) -> Bool {
        data.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = Glibc.send(
                    connection, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }
    }
}
