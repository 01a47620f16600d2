import Foundation
import VaultInterface

/// The values of one account over time, from ``Keychain/values(_:for:)``.
public struct KeychainValues<Value: KeychainValue>: AsyncSequence, Sendable {
    public typealias Element = Value?
    public typealias Failure = any Error

    let keychain: Keychain
    let account: String

    /// An iterator that begins with the value of the moment it is first asked.
    public func makeAsyncIterator() -> Iterator { Iterator(keychain: keychain, account: account) }

    /// Waits for the value to become another one.
    public struct Iterator: AsyncIteratorProtocol {
        private enum State {
            case new
            case observing(BoundKeychain, AsyncStream<VaultChange>.Iterator, last: Data?)
            case ended
        }

        private let keychain: Keychain
        private let account: String
        private var state = State.new

        init(keychain: Keychain, account: String) {
            self.keychain = keychain
            self.account = account
        }

        /// The present value first, then the next different one; nil in place of a value when there is
        /// none, nil in place of an element when the task was canceled.
        ///
        /// - Throws: ``KeychainError``.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Value?? {
            do {
                guard let data = try await nextData(isolation: actor) else {
                    state = .ended
                    return nil
                }
                guard let bytes = data else { return .some(nil) }
                return .some(try Value(keychainData: bytes))
            } catch {
                state = .ended
                if case KeychainError.Code.taskCanceled = error { return nil }
                throw error
            }
        }

        /// The next value, as with an isolation.
        ///
        /// - Throws: ``KeychainError``.
        public mutating func next() async throws -> Value?? { try await next(isolation: nil) }

        private mutating func nextData(isolation actor: isolated (any Actor)?) async throws -> Data?? {
            switch state {
            case .new:
                let bound = try await keychain.inBackground { bound in bound }
                // Listening begins before the first reading, so that no change falls in between.
                let changes = bound.session.vault.changes().makeAsyncIterator()
                let data = try await read(bound)
                state = .observing(bound, changes, last: data)
                return .some(data)
            case .observing(let bound, var changes, let last):
                while await changes.next(isolation: actor) != nil {
                    let data = try await read(bound)
                    if data == last { continue }
                    state = .observing(bound, changes, last: data)
                    return .some(data)
                }
                return nil
            case .ended:
                return nil
            }
        }

        private func read(
            _ bound: BoundKeychain, isolation: isolated (any Actor)? = #isolation
        ) async throws -> Data? {
            let account = account
            return try await BlockingThreads.shared.run { try bound.data(account) }
        }
    }
}
