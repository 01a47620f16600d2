import Foundation
import Glibc

/// A TCP connection on which anything can be said.
final class RawConnection: Sendable {
    struct Failure: Error {
        let code: Int32
    }

    private let descriptor: Int32

    /// - Parameters:
    ///   - receiving: How much the system takes before it is asked for it, in bytes; nil for what it likes.
    ///   - source: The address that it comes from, which may be any of this machine's own, such as 127.0.0.2.
    init(to port: Int, receiving: Int32? = nil, from source: String? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        if var receiving {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiving, socklen_t(MemoryLayout<Int32>.size))
        }
        var code: Int32 = 0
        if let source { code = Self.with(source, 0) { [descriptor] in bind(descriptor, $0, $1) } }
        if code == 0 { code = Self.with("127.0.0.1", port) { [descriptor] in connect(descriptor, $0, $1) } }
        if code != 0 {
            let failure = Failure(code: errno)
            close(descriptor)
            throw failure
        }
    }

    deinit { close(descriptor) }

    private static func with(_ host: String, _ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32)
        -> Int32
    {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr(host)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }

    /// - Returns: Whether all of it was taken.
    @discardableResult
    func send(_ bytes: Data) -> Bool {
        bytes.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress else { return true }
            var sent = 0
            while sent < buffer.count {
                let count = Glibc.send(descriptor, start + sent, buffer.count - sent, Int32(MSG_NOSIGNAL))
                if count <= 0 { return false }
                sent += count
            }
            return true
        }
    }

    /// Sends as much as is taken without waiting.
    func sendWhatIsTaken(_ bytes: Data) {
        bytes.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress else { return }
            _ = Glibc.send(descriptor, start, buffer.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
    }

    private func receive() -> Data? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Data(buffer.prefix(count)) : nil
    }

    /// What comes first.
    func firstPart() async -> String {
        await onThread { self.receive().map { String(decoding: $0, as: UTF8.self) } ?? "" }
    }

    /// Takes what comes until the other end closes.
    ///
    /// - Returns: Whether that was within a minute of silence.
    func isClosed() async -> Bool {
        await onThread {
            while true {
                var buffer = [UInt8](repeating: 0, count: 4_096)
                let count = recv(self.descriptor, &buffer, buffer.count, 0)
                if count <= 0 { return count == 0 || errno == ECONNRESET }
            }
        }
    }

    /// Sends something, says that there is no more, and takes what comes until the other end has no more, either.
    func exchange(_ bytes: Data) async -> String {
        await onThread {
            self.send(bytes)
            _ = shutdown(self.descriptor, Int32(SHUT_WR))
            var answer = Data()
            while let piece = self.receive() { answer += piece }
            return String(decoding: answer, as: UTF8.self)
        }
    }

    /// Sends `piece` again and again for as long as it is taken.
    ///
    /// - Returns: How many bytes were.
    func flood(_ start: Data, then piece: Data, upTo limit: Int) async -> Int {
        await onThread {
            self.send(start)
            var sent = 0
            while sent < limit, self.send(piece) { sent += piece.count }
            return sent
        }
    }

    /// Sends a byte of a header every tenth of a second until the other end has enough of it.
    ///
    /// - Returns: Whether that happened.
    func trickleUntilClosed() async -> Bool {
        // A minute at most.
        for _ in 0..<600 {
            try? await Task.sleep(for: .milliseconds(100))
            if !send(Data("x".utf8)) { return true }
            var byte: UInt8 = 0
            let count = recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT))
            if count == 0 || (count < 0 && errno != EAGAIN) { return true }
        }
        return false
    }
}

/// Runs what blocks on a thread of its own.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}
