import Foundation
import Synchronization
import VaultInterface

/// Seals strings and data, and opens them again, under the methods of Foundation's `ValueTransformer`, which Linux's
/// Foundation lacks.
///
/// ```swift
/// let name = SealedValueTransformer.Name("NoteTransformer")
/// SealedValueTransformer.setValueTransformer(SealedValueTransformer(keys: keys, for: name), forName: name)
///
/// let transformer = SealedValueTransformer(forName: name)
/// let sealed = transformer?.transformedValue("Dear diary")
/// let text = transformer?.reverseTransformedValue(sealed) as? String
/// ```
///
/// A transformer does not know where a value is stored, so it binds the value to the transformer's name only. An
/// attacker who can write to the store can therefore exchange two values. ``SealedRecord`` binds each value to its row.
public final class SealedValueTransformer: Sendable {
    /// The name of a transformer: Foundation's `NSValueTransformerName`, which Linux's Foundation lacks.
    public struct Name: RawRepresentable, Sendable, Hashable {
        /// The name.
        public let rawValue: String

        /// A transformer's name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A transformer's name.
        public init(_ rawValue: String) { self.rawValue = rawValue }
    }

    /// The sealing, whose database is the transformer's name.
    private let sealing: FieldSealing
    private let place: FieldPlace
    private let report: @Sendable (SealedFieldsError) -> Void

    /// - Parameters:
    ///   - keys: The keyring.
    ///   - name: What values are bound to, by custom the name that the transformer is registered under. It can never
    ///     change.
    ///   - algorithm: How values are sealed.
    ///   - onFailure: Gets the reason when a method returns nil for a value; by default it is a line on standard error.
    public init(
        keys: FieldKeys, for name: Name, algorithm: SealingAlgorithm = .chaChaPoly,
        onFailure: @escaping @Sendable (SealedFieldsError) -> Void = SealedValueTransformer.standardError
    ) {
        sealing = FieldSealing(database: "transformer/\(name.rawValue)", keys: keys, algorithm: algorithm)
        place = FieldPlace(table: "", column: "", row: 0)
        report = onFailure
    }

    /// Writes a line on standard error. The default for failures.
    public static let standardError: @Sendable (SealedFieldsError) -> Void = { error in
        FileHandle.standardError.write(Data("SealedValueTransformer: \(error)\n".utf8))
    }

    // MARK: Foundation's methods

    /// `NSData`: what values are transformed into.
    public static func transformedValueClass() -> AnyClass { NSData.self }

    /// Yes.
    public static func allowsReverseTransformation() -> Bool { true }

    /// Seals a value.
    ///
    /// - Parameter value: A `String`, `NSString`, `Data` or `NSData`; nil is nil.
    /// - Returns: `Data`, or nil if the value could not be sealed; the reason was reported.
    public func transformedValue(_ value: Any?) -> Any? {
        guard let value else { return nil }
        return reporting {
            switch value {
            case let text as String: try seal(text)
            case let data as Data: try seal(data)
            case let text as NSString: try seal(String(describing: text))
            case let data as NSData: try seal(Data(referencing: data))
            default:
                throw SealedFieldsError(
                    .unencodableValue, message: "\(type(of: value)) is neither a string nor data; encode it first")
            }
        }
    }

    /// Opens a sealed value.
    ///
    /// - Parameter value: `Data` or `NSData` that ``transformedValue(_:)`` made; nil is nil.
    /// - Returns: The `String` or `Data` that was sealed, or nil if it could not be opened; the reason was reported.
    public func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let value else { return nil }
        return reporting {
            switch value {
            case let data as Data: try open(data)
            case let data as NSData: try open(Data(referencing: data))
            default: throw SealedFieldsError.notSealed(nil)
            }
        }
    }

    private func reporting(_ body: () throws -> Any) -> Any? {
        do {
            return try body()
        } catch {
            report(SealedFieldsError(error))
            return nil
        }
    }

    // MARK: The same with errors

    /// Seals a string.
    ///
    /// - Throws: ``SealedFieldsError``.
    public func seal(_ text: String) throws -> Data { try sealing.seal(text, at: place).bytes }

    /// Seals data.
    ///
    /// - Throws: ``SealedFieldsError``.
    public func seal(_ data: Data) throws -> Data { try sealing.seal(data, at: place).bytes }

    /// Opens a sealed value.
    ///
    /// - Returns: The `String` or `Data` that was sealed.
    /// - Throws: ``SealedFieldsError``.
    public func open(_ sealed: Data) throws -> any Sendable {
        try sealing.open(sealed, at: place) { (bytes) throws -> any Sendable in
            switch bytes.first.flatMap(FieldCoding.Kind.init(rawValue:)) {
            case .string: try FieldCoding.decode(String.self, from: bytes)
            default: try FieldCoding.decode(Data.self, from: bytes)
            }
        }
    }

    // MARK: Names

    private static let registered = Mutex<[Name: SealedValueTransformer]>([:])

    /// Registers a transformer under a name and replaces the one that had it. Nil removes the name.
    public static func setValueTransformer(
        _ transformer: SealedValueTransformer?, forName name: Name
    ) {
        registered.withLock { $0[name] = transformer }
    }

    /// The names that have a transformer, sorted.
    public static func valueTransformerNames() -> [Name] {
        registered.withLock { $0.keys.sorted { $0.rawValue < $1.rawValue } }
    }

    fileprivate static func transformer(named name: Name) -> SealedValueTransformer? {
        registered.withLock { $0[name] }
    }
}

/// Lets an initialiser return the object that is registered, as Foundation's does.
public protocol _RegisteredTransformer {
    /// The transformer that is registered under a name.
    static func _registered(_ name: SealedValueTransformer.Name) -> Self?
}

extension _RegisteredTransformer {
    /// The transformer that is registered under a name.
    public init?(forName name: SealedValueTransformer.Name) {
        guard let registered = Self._registered(name) else { return nil }
        self = registered
    }
}

extension SealedValueTransformer: _RegisteredTransformer {
    /// The transformer that is registered under a name.
    public static func _registered(_ name: SealedValueTransformer.Name) -> SealedValueTransformer? {
        transformer(named: name)
    }
}
