import Access
import KeychainModel

/// An operation of a vault as a value: its properties are what it takes, ``Reply`` is what it returns, and both know
/// their form on the wire.
///
/// To add an operation, write its type in `Operations/`, name it twice in `VaultEngine.swift` (in ``OperationCode`` and
/// in the part that performs it), and write the part's function in the engine.
/// The client, the server and everything that wraps a vault are generic over operations.
package protocol VaultOperation: WireValue {
    /// What comes back at the end.
    associatedtype Reply: WireValue
    /// What is sent before the reply, any number of times, as soon as it is there.
    associatedtype Part: WireValue = Never

    /// The number that stands for the operation on the wire; see ``OperationCode``.
    static var number: UInt8 { get }
    /// The operation's name in logs and metrics.
    static var name: String { get }
    static var traits: OperationTraits { get }

    /// How a person may be asked on the way; nil for an operation that asks nobody.
    var authentication: AuthenticationOptions? { get }

    /// Refuses what the layers above a vault never ask for. Only the server calls it, for requests from outside.
    ///
    /// - Throws: ``VaultError/invalidRequest(reason:)``.
    func check() throws(VaultError)

    /// Lets `engine` perform the operation on behalf of `client`.
    ///
    /// - Parameter send: Takes each part. What it throws ends the operation.
    func perform(by engine: any VaultEngine, as client: Client, send: Sink<Part>) throws(VaultError) -> Reply
}

extension VaultOperation {
    package static var code: OperationCode { OperationCode(self) }
    package var authentication: AuthenticationOptions? { nil }
    package func check() throws(VaultError) {}
}

/// An operation that sends nothing before its reply.
package protocol UnaryOperation: VaultOperation where Part == Never {}

/// What those who pass operations on need to know of one.
package struct OperationTraits: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Performing it twice has the effect of performing it once: a client may send it again after it lost the answer.
    package static let repeatable = OperationTraits(rawValue: 1)
    /// It changes items.
    package static let changesItems = OperationTraits(rawValue: 2)
    /// It needs class keys, which a locked vault does not have.
    package static let usesClassKeys = OperationTraits(rawValue: 4)
    /// It does long work in slices: a server lets it begin at once, and it takes turns from the second slice on.
    package static let sliced = OperationTraits(rawValue: 16)
    /// It concerns every group that the caller holds, and not only those that it claims.
    package static let concernsAllGroups = OperationTraits(rawValue: 8)
}

/// The reply of an operation that has nothing to tell.
package struct Done: EmptyWireValue, Equatable {
    package init() {}
}

/// Takes the parts of an answer, in order. What it throws ends the operation.
package typealias Sink<Part> = (Part) throws(VaultError) -> Void
