import Crypto
import Foundation
import Synchronization

/// Seals and opens the fields of a database with the keys of a keyring.
///
/// ```swift
/// let sealing = FieldSealing(database: "notes", keys: FieldKeys("com.example.notes"))
/// let place = FieldPlace(table: "note", column: "body", row: RowKey(id))
/// let sealed = try sealing.seal("Dear diary", at: place)
/// let text = try sealing.open(sealed, at: place)
/// ```
///
/// Records call it themselves: see ``SealedRecord``.
public struct FieldSealing: Sendable {
    /// The name of the database. It is part of every sealed value, so it can never change, and values cannot be moved
    /// between databases of different names. Two databases that share a keyring need two names.
    public let database: String
    /// The keys.
    public let keys: FieldKeys
    /// The algorithm for new values. Values that another algorithm sealed can still be opened.
    public let algorithm: SealingAlgorithm

    /// Where it is known that the keyring is used for the database.
    private let noted: Noted

    /// - Parameters:
    ///   - database: See ``database``.
    ///   - keys: The keyring.
    ///   - algorithm: How new values are sealed.
    public init(database: String, keys: FieldKeys, algorithm: SealingAlgorithm = .chaChaPoly) {
        self.database = database
        self.keys = keys
        self.algorithm = algorithm
        noted = Noted()
    }

    /// The keyring that has a note of the database; 0 for none.
    private final class Noted: Sendable {
        let keyring = Atomic<UInt>(0)
    }

    /// Seals a value for its place. It can be opened only there.
    ///
    /// - Throws: ``SealedFieldsError/Code/locked`` while the key cannot be had, and
    ///   ``SealedFieldsError/Code/unencodableValue``.
    public func seal<Value: Codable>(
        _ value: Value, at place: FieldPlace
    ) throws -> SealedColumnValue<Value> {
        try FieldCoding.withEncoded(value) { bytes in
            SealedColumnValue(unchecked: try seal(encoded: bytes, at: place))
        }
    }

    /// Returns the value that was sealed for a place.
    ///
    /// - Throws: ``SealedFieldsError/Code/notAuthentic`` if it was sealed for another place or was changed,
    ///   ``SealedFieldsError/Code/unknownKey``, ``SealedFieldsError/Code/locked`` while the key cannot be had, and
    ///   ``SealedFieldsError/Code/undecodableValue`` if it is not of the type.
    public func open<Value: Codable>(
        _ sealed: SealedColumnValue<Value>, at place: FieldPlace
    ) throws -> Value {
        try open(sealed.bytes, at: place) { bytes in
            try FieldCoding.decode(Value.self, from: bytes)
        }
    }

    func seal(encoded: UnsafeRawBufferPointer, at place: FieldPlace) throws -> Data {
        let keyring = keys.keyring
        let number = UInt(bitPattern: Unmanaged.passUnretained(keyring).toOpaque())
        if noted.keyring.load(ordering: .relaxed) != number {
            try keyring.note(database: database)
            noted.keyring.store(number, ordering: .relaxed)
        }
        return try keyring.sealingKey().seal(encoded, algorithm, binding(place))
    }

    func open<Result>(
        _ sealed: Data, at place: FieldPlace, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        let (algorithm, id) = try parse(sealed)
        return try keys.keyring.openingKey(id, for: place.subject).open(sealed, algorithm, binding(place), body)
    }

    private func parse(_ sealed: Data) throws -> (algorithm: SealingAlgorithm, key: FieldKeyID) {
        try sealed.withUnsafeBytes { try SealedForm.parse($0) }
    }

    private func binding(_ place: FieldPlace) -> BindingBytes {
        BindingBytes(database: database, table: place.table, column: place.column, row: place.row)
    }

    // MARK: Standing in

    /// Stands in for the sealing of every record type within a task, such as that of another account's database.
    ///
    /// ```swift
    /// let notes = try sealing.run { try queue.read { try Note.fetchAll($0) } }
    /// ```
    public func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        try Self.$current.withValue(self, operation: body)
    }

    /// Stands in for the sealing of every record type within a task and its children.
    public func run<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await Self.$current.withValue(self, operation: body, isolation: isolation)
    }

    @TaskLocal static var current: FieldSealing?
}

extension FieldPlace {
    var subject: String { "\(table).\(column)" }
}
