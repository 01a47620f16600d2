import Access

/// A request that `keychain mcp` asks the broker to make, without its body.
package struct BrokerCall: Codable, Sendable {
    /// A header as it was written: servers see the names in the same letters.
    package struct Header: Codable, Sendable, Equatable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// By which the answer is told from others.
    package var number: Int
    package var method: String
    /// With placeholders where secrets are wanted.
    package var url: String
    package var headers: [Header]
    /// The most bytes of the answer's body that are kept.
    package var longest: Int
    /// After which the request ends, with what has come by then.
    package var seconds: Int

    package init(number: Int, method: String, url: String, headers: [Header], longest: Int, seconds: Int) {
        self.number = number
        self.method = method
        self.url = url
        self.headers = headers
        self.longest = longest
        self.seconds = seconds
    }
}

/// What came of a ``BrokerCall``, without the body of the answer.
package struct BrokerAnswer: Codable, Sendable {
    package var number: Int
    /// What the audit log has of the request; nil if it was none that could be sent.
    package var record: BrokeredRequest?
    /// Of the server; nil if there is no answer of a server.
    package var status: Int?
    /// Masked like the body.
    package var headers: [BrokerCall.Header]
    /// Why the body is not whole, or why there is no answer; nil for a whole one.
    package var end: String?

    package init(
        number: Int, record: BrokeredRequest? = nil, status: Int? = nil, headers: [BrokerCall.Header] = [],
        end: String? = nil
    ) {
        self.number = number
        self.record = record
        self.status = status
        self.headers = headers
        self.end = end
    }
}
