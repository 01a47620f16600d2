/// Why a ``TestKeychain`` could not be made or changed.
public struct TestKeychainError: Error, Sendable, CustomStringConvertible {
    /// What happened, in words.
    public let reason: String

    /// The reason.
    public var description: String { reason }

    init(reason: String) { self.reason = reason }
}
