#if HTTPClientSupport
import Bytes
import Foundation

// The messages of etcd's gateway, in the JSON form of its protocol buffers: bytes are base64, 64-bit numbers are text,
// and what is zero, empty or false is left out. https://etcd.io/docs/v3.4/dev-guide/api_grpc_gateway/

/// A 64-bit number as the gateway writes it.
package struct EtcdNumber: Codable, Sendable, Equatable {
    package var value: Int64

    package init(_ value: Int64) { self.value = value }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = try Int64(container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no number of 64 bits")
        }
        self.value = value
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(String(value))
    }
}

/// A cluster's number, which does not fit into a signed one.
struct EtcdIdentifier: Codable, Sendable, Equatable {
    var value: UInt64

    init(_ value: UInt64) { self.value = value }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = try UInt64(container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no number of 64 bits")
        }
        self.value = value
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(String(value))
    }
}

/// Which cluster answered, and how far it was.
struct EtcdHeader: Codable, Sendable {
    var cluster_id: EtcdIdentifier?
    /// Left out when a watch ends because of a compaction.
    var revision: EtcdNumber?

    var cluster: UInt64 { cluster_id?.value ?? 0 }
    var number: Int64 { revision?.value ?? 0 }
}

/// A key and its value, as of its last change.
struct EtcdEntry: Codable, Sendable {
    var key: Data
    var value: Data?
    var mod_revision: EtcdNumber?

    var changed: Int64 { mod_revision?.value ?? 0 }
}

/// Asks for the keys from `key` to before `range_end`, or for one key.
struct EtcdRange: Codable, Sendable {
    var key: Data
    var range_end: Data?
    var limit: EtcdNumber?
    /// As of this revision; nil for now.
    var revision: EtcdNumber?
    /// Only what changed at this revision or later.
    var min_mod_revision: EtcdNumber?
    var keys_only: Bool?
    /// `DESCEND` for the last keys first.
    var sort_order: String?
    var sort_target: String?

    struct Reply: Codable, Sendable {
        var header: EtcdHeader?
        var kvs: [EtcdEntry]?
        var more: Bool?
    }
}

struct EtcdPut: Codable, Sendable {
    var key: Data
    var value: Data
    var lease: EtcdNumber?
}

struct EtcdDelete: Codable, Sendable {
    var key: Data
    var range_end: Data?
}

/// Does `success` if every comparison holds, else `failure`; all of it or nothing.
struct EtcdTransaction: Codable, Sendable {
    struct Comparison: Codable, Sendable {
        var key: Data
        /// The first key behind those of which all are compared; nil for one key.
        var range_end: Data?
        var target: String
        var result: String
        var create_revision: EtcdNumber?

        /// Holds if there is no such key.
        static func absent(_ key: Data) -> Comparison {
            Comparison(key: key, target: "CREATE", result: "EQUAL", create_revision: EtcdNumber(0))
        }

        /// Holds if there is no key from `key` to before `end`.
        static func absent(from key: Data, to end: Data) -> Comparison {
            Comparison(
                key: key, range_end: end, target: "CREATE", result: "EQUAL", create_revision: EtcdNumber(0))
        }

        /// Holds if there is such a key.
        static func present(_ key: Data) -> Comparison {
            Comparison(key: key, target: "CREATE", result: "GREATER", create_revision: EtcdNumber(0))
        }
    }

    struct Step: Codable, Sendable {
        var request_put: EtcdPut?
        var request_range: EtcdRange?
        var request_delete_range: EtcdDelete?
    }

    var compare: [Comparison]
    var success: [Step]
    var failure: [Step]

    /// The most steps, and the most comparisons, of one transaction (etcd's `--max-txn-ops`).
    static let mostSteps = 128

    struct Reply: Codable, Sendable {
        struct Step: Codable, Sendable {
            var response_range: EtcdRange.Reply?
        }

        var header: EtcdHeader?
        var succeeded: Bool?
        var responses: [Step]?
    }
}

/// Begins to watch a range.
struct EtcdWatchRequest: Codable, Sendable {
    struct Create: Codable, Sendable {
        var key: Data
        var range_end: Data?
        var start_revision: EtcdNumber
        var progress_notify = true
        var fragment = true
        var watch_id: EtcdNumber
    }

    var create_request: Create
}

/// What a watch tells: one line each.
struct EtcdWatchLine: Codable, Sendable {
    struct Event: Codable, Sendable {
        /// Left out for a put.
        var type: String?
        var kv: EtcdEntry?

        var isPut: Bool { type == nil || type == "PUT" }
    }

    struct Result: Codable, Sendable {
        var header: EtcdHeader?
        var watch_id: EtcdNumber?
        var created: Bool?
        var canceled: Bool?
        var compact_revision: EtcdNumber?
        var cancel_reason: String?
        /// Whether more events of the same revision follow.
        var fragment: Bool?
        var events: [Event]?
    }

    var result: Result?
    var error: EtcdFault?
}

/// What the gateway says when it cannot do something.
struct EtcdFault: Codable, Sendable {
    var error: String?
    var message: String?
    var code: Int?
    var grpc_code: Int?

    var text: String { message ?? error ?? "no reason given" }
}

struct EtcdLogin: Codable, Sendable {
    var name: String
    var password: String

    struct Reply: Codable, Sendable { var token: String? }
}

struct EtcdLease: Codable, Sendable {
    var TTL: EtcdNumber

    struct Reply: Codable, Sendable { var ID: EtcdNumber? }
}
#endif
