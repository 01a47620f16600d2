#if HTTPClientSupport
import AsyncHTTPClient
import Foundation
import NIOCore

/// A connection over which etcd tells of changes.
struct EtcdWatch: Sendable {
    let body: HTTPClientResponse.Body
    let endpoint: String
}

/// What a watch told, line by line.
struct EtcdWatchLines {
    private var iterator: HTTPClientResponse.Body.AsyncIterator
    private var rest = ByteBuffer()
    /// Up to where `rest` has no end of a line.
    private var searched = 0
    private let endpoint: String

    init(_ watch: EtcdWatch) { (iterator, endpoint) = (watch.body.makeAsyncIterator(), watch.endpoint) }

    /// - Throws: ``EtcdError`` at the end of the connection.
    mutating func next() async throws(EtcdError) -> EtcdWatchLine.Result {
        while true {
            if let line = try takeLine() {
                if let fault = line.error {
                    throw EtcdGateway.error(fault.text, code: fault.grpc_code, status: nil, endpoint)
                }
                if let result = line.result { return result }
                continue
            }
            do {
                guard var part = try await iterator.next() else {
                    throw EtcdError.unreachable(endpoint: endpoint, reason: "the node closed the watch")
                }
                guard rest.readableBytes + part.readableBytes <= EtcdGateway.longest else {
                    throw EtcdError.malformed(endpoint: endpoint, reason: "a line without end")
                }
                rest.discardReadBytes()
                rest.writeBuffer(&part)
            } catch let error as EtcdError {
                throw error
            } catch { throw .unreachable(endpoint: endpoint, reason: EtcdGateway.reason(error)) }
        }
    }

    /// The next of those that have come already; nil if there is none.
    mutating func nextBuffered() throws(EtcdError) -> EtcdWatchLine.Result? {
        guard rest.readableBytesView.dropFirst(searched).contains(UInt8(ascii: "\n")), let line = try takeLine() else {
            return nil
        }
        if let fault = line.error {
            throw EtcdGateway.error(fault.text, code: fault.grpc_code, status: nil, endpoint)
        }
        return line.result ?? EtcdWatchLine.Result()
    }

    private mutating func takeLine() throws(EtcdError) -> EtcdWatchLine? {
        let view = rest.readableBytesView
        guard let end = view.dropFirst(searched).firstIndex(of: UInt8(ascii: "\n")) else {
            searched = view.count
            return nil
        }
        let length = end - view.startIndex
        searched = 0
        guard let line = rest.readBytes(length: length), rest.readInteger(as: UInt8.self) != nil else { return nil }
        do { return try JSONDecoder().decode(EtcdWatchLine.self, from: Data(line)) } catch {
            throw .malformed(endpoint: endpoint, reason: "a line that is no message of a watch")
        }
    }
}
#endif
