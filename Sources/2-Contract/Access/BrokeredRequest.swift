/// What happened with a request into which a broker may put a secret, as the broker tells it. Holds no secret.
package struct BrokeredRequest: Codable, Sendable, Hashable {
    package enum Outcome: String, Codable, Sendable, CaseIterable {
        /// The request went out with secrets.
        case placed
        /// It went out without one.
        case passed
        /// It went out with a placeholder in it, because no rule has a secret there.
        case stray
        /// It did not go out.
        case refused
        /// The server could not be reached, or its answer could not be passed on.
        case failed
    }

    package var outcome: Outcome
    /// The variables of the secrets that it got, or of the placeholders that were seen.
    package var secrets: [String]
    /// The program that was to be run.
    package var program: String?
    package var host: String
    package var port: Int
    /// Nil for a connection that is not read.
    package var method: String?
    /// Without the query.
    package var path: String?
    /// Of the answer; nil if there was none.
    package var status: Int?
    /// The bytes of the bodies that went out and came in.
    package var sent: Int64
    package var received: Int64
    /// Why it was refused or failed, or where a placeholder was seen.
    package var reason: String?

    package init(
        _ outcome: Outcome, secrets: [String] = [], host: String, port: Int, method: String? = nil,
        path: String? = nil, status: Int? = nil, sent: Int64 = 0, received: Int64 = 0, reason: String? = nil
    ) {
        self.outcome = outcome
        self.secrets = secrets
        self.host = host
        self.port = port
        self.method = method
        self.path = path
        self.status = status
        self.sent = sent
        self.received = received
        self.reason = reason
    }

    /// The most secrets that one record names.
    package static let mostSecrets = 8

    /// The same, as a record of the log has it: printable ASCII, and each text with its greatest length. What was asked
    /// for is chosen by a program, which must not fill the disk with it.
    package var bounded: BrokeredRequest {
        var bounded = self
        bounded.secrets = secrets.prefix(Self.mostSecrets).map { Self.shortened($0, 64) }
        bounded.program = program.map { Self.shortened($0, 200) }
        bounded.host = Self.shortened(host, 253)
        bounded.method = method.map { Self.shortened($0, 32) }
        bounded.path = path.map { Self.shortened($0, 400) }
        bounded.reason = reason.map { Self.shortened($0, 200) }
        return bounded
    }

    private static func shortened(_ text: String, _ longest: Int) -> String {
        let plain = text.utf8.prefix(longest).map { byte in
            (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
                ? byte : UInt8(ascii: "?")
        }
        return String(decoding: plain, as: UTF8.self) + (text.utf8.count > longest ? "..." : "")
    }

    /// The most bytes of it in a record.
    package var size: Int {
        let texts = secrets + [program, host, method, path, reason].compactMap(\.self)
        return 200 + texts.reduce(0) { $0 + $1.utf8.count + 16 }
    }
}
