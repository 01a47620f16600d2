import FoundationEssentials

/// The form of the public error types: a kind of failure, and a message that says what happened and what to do.
///
/// Programs outside of this package see no member of this protocol, and `==` and `description` because public protocols
/// require them. So each type declares `~=` itself, and what `LocalizedError` has a default for, which they would get.
package protocol CodedError: LocalizedError, Equatable, CustomStringConvertible, Sendable {
    associatedtype Code: Hashable, CustomStringConvertible, Sendable

    /// The kind of failure.
    var code: Code { get }
    /// What happened and, after a semicolon, what to do.
    var message: String { get }

    /// The public form of an error of a lower floor. An error of this type stays as it is.
    ///
    /// - Parameter place: The file, database or keyring that it is about, where the error does not name it.
    init(_ cause: any Error, at place: String?)
}

extension CodedError {
    /// Whether the two are failures of the same kind.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    /// The message and the kind.
    public var description: String { "\(message) (\(code))" }

    /// The part of the message that says what to do; nil if it does not say that.
    package var advice: String? {
        message.ranges(of: "; ").last.map { String(message[$0.upperBound...]) }
    }

    package init(_ cause: any Error) { self.init(cause, at: nil) }

    /// Runs `body`, and throws its error in the public form.
    ///
    /// - Parameter place: The file, database or keyring that it is about.
    package static func translating<Result>(
        _ place: String? = nil, _ body: () throws -> Result
    ) throws(Self) -> Result {
        do {
            return try body()
        } catch {
            throw Self(error, at: place)
        }
    }
}
