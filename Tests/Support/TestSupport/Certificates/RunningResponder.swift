import Testing

/// A server of OpenSSL's program, such as a responder, which says where it listens.
package final class RunningResponder {
    package let port: Int
    private let worker: Worker

    package var address: String { "http://127.0.0.1:\(port)" }

    /// Starts the program with the arguments, and waits until it listens.
    package init(_ arguments: [String]) throws {
        worker = try Worker(arguments, command: "openssl")
        // Such as `ACCEPT [::]:45565 PID=30791`.
        var line = worker.readLine()
        while let text = line, !text.hasPrefix("ACCEPT ") { line = worker.readLine() }
        let port = line?.split(separator: " ").dropFirst().first?.split(separator: ":").last.flatMap { Int($0) }
        self.port = try #require(port, "the responder says no port: \(line ?? "nothing")")
    }

    /// Ends it, and waits for that.
    package func end() {
        worker.kill()
        worker.wait()
    }
}
