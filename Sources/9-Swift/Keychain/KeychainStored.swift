import Foundation
import Synchronization
import VaultInterface

/// A property whose value lives in the keychain.
///
/// ```swift
/// struct Credentials {
///     @KeychainStored("token", service: "com.example.mail") var token: String?
/// }
///
/// credentials.token = "t-123"       // stored
/// credentials.token = nil           // removed
/// ```
///
/// Each access reads or writes the keychain; nothing is kept in memory, so the property always says
/// what is stored, also after another process changed it.
///
/// ## When it fails
///
/// A property cannot throw, so a failure goes three ways, of which none needs attention beforehand:
/// reading gives nil and assigning leaves what was stored; the error is kept in `$token.error` until the
/// next access that succeeds; and it is reported, by default as a line on standard error that names the
/// place of the declaration and no part of the item. Pass `onFailure` to report it elsewhere.
///
/// Where nil for "unreadable" and nil for "not there" must not be confused, as in deciding whether
/// somebody is signed in, use the operations that throw:
///
/// ```swift
/// let token = try await credentials.$token.get()
/// try await credentials.$token.set("t-123")
/// ```
///
/// The property itself blocks the calling thread for as long as the vault takes. In asynchronous code
/// and for items that need a person, use `$token`.
@propertyWrapper
public struct KeychainStored<Value: KeychainValue>: Sendable {
    /// Where the value is stored and how it is protected.
    public let keychain: Keychain
    /// The account it is stored under.
    public let account: String

    private let outcome: Outcome
    private let report: KeychainFailureReport
    private let declaration: String

    /// A property stored under an account of a service.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - service: The service.
    ///   - accessGroup: The access group; nil for the program's first.
    ///   - accessibility: When a value stored through the property can be read.
    ///   - onFailure: What happens with an error that an access of the property meets, besides being
    ///     kept in ``error``.
    public init(
        _ account: String, service: String, accessGroup: String? = nil,
        accessibility: Keychain.Accessibility = .whenUnlocked, onFailure: KeychainFailureReport = .standardError,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(
            account, in: Keychain(service: service, accessGroup: accessGroup, accessibility: accessibility),
            onFailure: onFailure, fileID: fileID, line: line)
    }

    /// A property stored under an account of a keychain.
    public init(
        _ account: String, in keychain: Keychain, onFailure: KeychainFailureReport = .standardError,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self.keychain = keychain
        self.account = account
        self.outcome = Outcome()
        self.report = onFailure
        self.declaration = "\(fileID):\(line)"
    }

    /// The stored value; nil if there is none or it cannot be read. Assigning stores, nil removes.
    public var wrappedValue: Value? {
        get {
            do {
                let value = try keychain.get(Value.self, for: account)
                outcome.succeed()
                return value
            } catch {
                // A value that stays unreadable is reported once, not at each look at it.
                let error = KeychainError(error)
                if outcome.fail(error) { report(error, declaration) }
                return nil
            }
        }
        nonmutating set {
            do {
                try set(newValue)
            } catch {
                report(KeychainError(error), declaration)
            }
        }
    }

    /// The property itself, for its error and for operations that throw.
    public var projectedValue: KeychainStored { self }

    /// The error of the latest access, nil if it succeeded.
    public var error: KeychainError? { outcome.error }

    /// The stored value, or nil if there is none.
    ///
    /// - Throws: ``KeychainError``.
    public func get() throws -> Value? {
        try noting { try keychain.get(Value.self, for: account) }
    }

    /// The stored value, or nil if there is none.
    ///
    /// - Throws: ``KeychainError``.
    public func get() async throws -> Value? {
        do {
            let value = try await keychain.get(Value.self, for: account)
            outcome.succeed()
            return value
        } catch {
            outcome.fail(KeychainError(error))
            throw error
        }
    }

    /// Stores a value; nil removes the item.
    ///
    /// - Throws: ``KeychainError``.
    public func set(_ value: Value?) throws {
        try noting {
            if let value {
                try keychain.set(value, for: account)
            } else {
                try keychain.remove(account)
            }
        }
    }

    /// Stores a value; nil removes the item.
    ///
    /// - Throws: ``KeychainError``.
    public func set(_ value: Value?) async throws {
        do {
            if let value {
                try await keychain.set(value, for: account)
            } else {
                try await keychain.remove(account)
            }
            outcome.succeed()
        } catch {
            outcome.fail(KeychainError(error))
            throw error
        }
    }

    /// The value now and whenever it becomes another one. See ``Keychain/values(_:for:)``.
    public var values: KeychainValues<Value> { keychain.values(for: account) }

    private func noting<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            let result = try body()
            outcome.succeed()
            return result
        } catch {
            outcome.fail(KeychainError(error))
            throw error
        }
    }

    /// How the latest access went; shared by the copies of a property.
    private final class Outcome: Sendable {
        private let latest = Mutex<KeychainError?>(nil)

        var error: KeychainError? { latest.withLock { $0 } }

        func succeed() { latest.withLock { $0 = nil } }

        /// Notes a failure; whether the access before had not failed in the same way.
        @discardableResult
        func fail(_ error: KeychainError) -> Bool {
            latest.withLock { latest in
                defer { latest = error }
                return latest != error
            }
        }
    }
}

/// What happens with an error that a ``KeychainStored`` property cannot throw.
public struct KeychainFailureReport: Sendable {
    private let body: @Sendable (KeychainError, String) -> Void

    /// A report of one's own.
    ///
    /// - Parameter body: Gets the error and the place of the property's declaration, such as
    ///   `Mail/Credentials.swift:12`. Called on the thread of the access.
    public init(_ body: @escaping @Sendable (_ error: KeychainError, _ declaration: String) -> Void) {
        self.body = body
    }

    func callAsFunction(_ error: KeychainError, _ declaration: String) { body(error, declaration) }

    /// A line on standard error. The default.
    public static let standardError = KeychainFailureReport { error, declaration in
        FileHandle.standardError.write(Data("\(declaration): \(error)\n".utf8))
    }

    /// Nothing besides the property's `error`. For programs that look at it after every access.
    public static let onlyInProperty = KeychainFailureReport { _, _ in }
}
