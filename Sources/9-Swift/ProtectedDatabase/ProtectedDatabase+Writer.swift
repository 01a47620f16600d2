import Foundation
import GRDB

// GRDB's protocols. What may throw tells of a locked database in this package's words; what may not goes to a
// connection without a key, whose statements throw GRDB's.

extension ProtectedDatabase: DatabaseReader {
    /// GRDB's configuration of the connections.
    public var configuration: Configuration { latest.writer.configuration }

    /// The path of the file.
    public var path: String { file.path }

    /// Interrupts what is running.
    public func interrupt() { latest.interrupt() }

    /// Reads, in one transaction.
    @_disfavoredOverload
    public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try using { try $0.read(value) }
    }

    /// Reads, in one transaction.
    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await using { try await $0.read(value) }
    }

    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        do {
            try connection().asyncRead(value)
        } catch {
            value(.failure(error))
        }
    }

    @_disfavoredOverload
    public func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T {
        try using { try $0.unsafeRead(value) }
    }

    public func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await using { try await $0.unsafeRead(value) }
    }

    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        do {
            try connection().asyncUnsafeRead(value)
        } catch {
            value(.failure(error))
        }
    }

    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        try using { try $0.unsafeReentrantRead(value) }
    }

    public func _add<Reducer: ValueReducer>(
        observation: ValueObservation<Reducer>, scheduling scheduler: some ValueObservationScheduler,
        onChange: @escaping @Sendable (Reducer.Value) -> Void
    ) -> AnyDatabaseCancellable {
        present._add(observation: observation, scheduling: scheduler, onChange: onChange)
    }
}

extension ProtectedDatabase: DatabaseWriter {
    /// Writes, in one transaction.
    @_disfavoredOverload
    public func write<T>(_ updates: (Database) throws -> T) throws -> T {
        try using { try $0.write(updates) }
    }

    /// Writes, in one transaction.
    public func write<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T {
        try await using { try await $0.write(updates) }
    }

    @_disfavoredOverload
    public func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try usingPresent { try $0.writeWithoutTransaction(updates) }
    }

    public func writeWithoutTransaction<T: Sendable>(
        _ updates: @Sendable (Database) throws -> T
    ) async throws -> T {
        try await using { try await $0.writeWithoutTransaction(updates) }
    }

    @_disfavoredOverload
    public func barrierWriteWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T {
        try using { try $0.barrierWriteWithoutTransaction(updates) }
    }

    public func barrierWriteWithoutTransaction<T: Sendable>(
        _ updates: @Sendable (Database) throws -> T
    ) async throws -> T {
        try await using { try await $0.barrierWriteWithoutTransaction(updates) }
    }

    public func asyncBarrierWriteWithoutTransaction(
        _ updates: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        do {
            try connection().asyncBarrierWriteWithoutTransaction(updates)
        } catch {
            updates(.failure(error))
        }
    }

    public func asyncWriteWithoutTransaction(_ updates: @escaping @Sendable (Database) -> Void) {
        present.asyncWriteWithoutTransaction(updates)
    }

    public func unsafeReentrantWrite<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try usingPresent { try $0.unsafeReentrantWrite(updates) }
    }

    public func spawnConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        present.spawnConcurrentRead(value)
    }
}
