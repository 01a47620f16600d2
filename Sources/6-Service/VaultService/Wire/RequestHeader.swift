import Access
import DaemonLink
import Frames
import VaultInterface

/// The notifications that a client can subscribe to, on a connection that serves nothing else.
package enum VaultSubscription: UInt8, Sendable {
    case changes = 11
    case lockEvents = 29

    /// The subscription's name in logs and metrics.
    var name: String {
        switch self {
        case .changes: "changes"
        case .lockEvents: "lock-events"
        }
    }
}

/// The fields at the start of each request. Those of the operation follow.
package struct RequestHeader: WireValue, Equatable {
    package enum Subject: Sendable, Equatable {
        case operation(OperationCode)
        case subscription(VaultSubscription)
    }

    package var subject: Subject
    /// What the client says about itself. The server grants what the client claims and holds.
    package var claim: Client
    /// Whether the client could put a question to a person.
    package var canAsk: Bool

    package init(_ subject: Subject, claim: Client, canAsk: Bool) {
        self.subject = subject
        self.claim = claim
        self.canAsk = canAsk
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        let code = try reader.read(UInt8.self)
        if let code = OperationCode(rawValue: code) {
            subject = .operation(code)
        } else if let subscription = VaultSubscription(rawValue: code) {
            subject = .subscription(subscription)
        } else {
            throw FrameError("unknown operation")
        }
        canAsk = try reader.read()
        claim = Client(
            identifier: try reader.read(), accessGroups: try reader.list(limit: WireLimits.accessGroups))
    }

    package func encode(to buffer: FrameBuffer) {
        switch subject {
        case .operation(let code): buffer.append(code.rawValue)
        case .subscription(let subscription): buffer.append(subscription.rawValue)
        }
        buffer.write(canAsk, claim.identifier)
        buffer.write(list: claim.accessGroups)
    }
}

extension FrameBuffer {
    /// Appends the frame of a request for an operation.
    package func appendRequest<Operation: VaultOperation>(_ operation: Operation, claim: Client, canAsk: Bool) {
        appendFrame(.request) {
            write(RequestHeader(.operation(Operation.code), claim: claim, canAsk: canAsk), operation)
        }
    }

    /// Appends the frame of a request for a subscription.
    package func appendRequest(_ subscription: VaultSubscription, claim: Client) {
        appendFrame(.request) {
            write(RequestHeader(.subscription(subscription), claim: claim, canAsk: false))
        }
    }
}
