import VaultInterface

extension Keychain {
    /// What happens to the vault from now on: an element after each change, by this or another process.
    ///
    /// An element says that something changed, not what: any item of any program in the same vault may
    /// be meant, and changes in quick succession may come as one element. To follow one value, use
    /// ``values(_:for:)``. The sequence is for one consumer and ends when its task is canceled.
    ///
    /// ```swift
    /// for await _ in try await keychain.changes {
    ///     show(try await keychain.items())
    /// }
    /// ```
    ///
    /// Every change that comes after the property was read is reported; changes of other processes
    /// within a second.
    ///
    /// - Throws: ``KeychainError``.
    public var changes: KeychainChanges {
        get async throws {
            let bound = try await inBackground { bound in bound }
            return KeychainChanges(stream: bound.session.vault.changes())
        }
    }

    /// The value of an account now and whenever it becomes another one; nil while there is none.
    ///
    /// ```swift
    /// for try await token in keychain.values(String.self, for: "token") {
    ///     await client.authenticate(with: token)
    /// }
    /// ```
    ///
    /// The present value comes first. Changes in quick succession may be skipped over; the last one
    /// never is. The sequence ends when its task is canceled, and with an error when the value cannot be
    /// read any longer, as when the vault gets locked; begin a new one after the unlock.
    public func values<Value: KeychainValue>(
        _ type: Value.Type = Value.self, for account: String
    ) -> KeychainValues<Value> {
        KeychainValues(keychain: self, account: account)
    }
}

/// A change to the vault.
public struct KeychainChange: Sendable, Hashable {
    /// The process that changed it.
    public enum Origin: Sendable, Hashable {
        /// This process.
        case thisProcess
        /// Another process that has the same vault open.
        case anotherProcess
    }

    /// The process that changed it.
    public let origin: Origin
}

/// The changes to the vault, from ``Keychain/changes``.
public struct KeychainChanges: AsyncSequence, Sendable {
    public typealias Element = KeychainChange
    public typealias Failure = Never

    let stream: AsyncStream<VaultChange>

    /// The iterator; a sequence is for one of them.
    public func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeAsyncIterator()) }

    /// Waits for changes.
    public struct Iterator: AsyncIteratorProtocol {
        var base: AsyncStream<VaultChange>.Iterator

        /// The next change, or nil when the task was canceled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> KeychainChange? {
            await base.next(isolation: actor).map { change in
                KeychainChange(origin: change.origin == .thisProcess ? .thisProcess : .anotherProcess)
            }
        }

        /// The next change, or nil when the task was canceled.
        public mutating func next() async -> KeychainChange? { await next(isolation: nil) }
    }
}
