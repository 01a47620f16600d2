#if ConfigurationSupport
import Configuration
import Foundation
import Keychain
import VaultInterface

// The library's protocol runs these where the caller runs, and so do its handlers.
extension KeychainProvider {
    /// The stored value: its present state first, then each change by any program.
    ///
    /// The present value comes first, or why it cannot be read. Changes of other processes are seen within a second;
    /// those in quick succession may be skipped over, the last one never is. A lock is no change: while the vault is
    /// locked the last value stays the last, and what changed meanwhile comes after the unlocking. Other failures come
    /// as elements.
    ///
    /// - Throws: `KeychainError` when there is no vault to watch, and what the handler throws.
    public nonisolated(nonsending) func watchValue<Return: ~Copyable>(
        forKey key: AbsoluteConfigKey, type: ConfigType,
        updatesHandler:
            nonisolated(nonsending) (
                _ updates: ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>
            ) async throws -> Return
    ) async throws -> Return {
        let readings = Readings(occasions: try await keychain.occasionsToRead()) {
            try await fetchValue(forKey: key, type: type)
        }
        return try await updatesHandler(
            ConfigUpdatesAsyncSequence(readings.map { reading in reading.mapError { $0 } }))
    }

    /// A snapshot of now, and another one whenever a value of the service has changed; see
    /// ``watchValue(forKey:type:updatesHandler:)``.
    ///
    /// - Throws: `KeychainError` when there is no vault to watch, and what the handler throws.
    public nonisolated(nonsending) func watchSnapshot<Return: ~Copyable>(
        updatesHandler:
            nonisolated(nonsending) (
                _ updates: ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>
            ) async throws -> Return
    ) async throws -> Return {
        let readings = Readings(occasions: try await keychain.occasionsToRead()) {
            try KeychainSnapshot.Values(await keychain.items(includingValues: true))
        }
        return try await updatesHandler(
            ConfigUpdatesAsyncSequence(
                readings.map { reading -> any ConfigSnapshot in KeychainSnapshot(of: self, reading.mapError { $0 }) }))
    }
}

/// What reading gives now, and whenever it gives something else.
struct Readings<Value: Sendable & Equatable>: AsyncSequence, Sendable {
    typealias Element = Result<Value, KeychainError>
    typealias Failure = Never

    /// When to read again. Begun before the first reading, so that no change falls in between.
    let occasions: AsyncStream<Void>
    let read: @Sendable () async throws -> Value

    func makeAsyncIterator() -> Iterator {
        Iterator(occasions: occasions.makeAsyncIterator(), read: read)
    }

    struct Iterator: AsyncIteratorProtocol {
        var occasions: AsyncStream<Void>.Iterator
        let read: @Sendable () async throws -> Value
        var last: Element?

        /// The present reading first, then the next different one; nil when the task was canceled.
        mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            guard let last else {
                self.last = await Self.reading(read)
                return self.last
            }
            while await occasions.next(isolation: actor) != nil {
                guard let reading = await Self.reading(read) else { return nil }
                // The vault is locked. A reader keeps the value that it has read, and the unlocking is an occasion of
                // its own.
                if case .failure(let error) = reading, error.code == .interactionNotAllowed { continue }
                if reading == last { continue }
                self.last = reading
                return reading
            }
            return nil
        }

        mutating func next() async -> Element? { await next(isolation: nil) }

        /// Nil when the task was canceled.
        private static func reading(
            _ read: @Sendable () async throws -> Value
        ) async -> Element? {
            do {
                return .success(try await read())
            } catch {
                let error = KeychainError(error)
                return error.code == .taskCanceled ? nil : .failure(error)
            }
        }
    }
}
#endif
