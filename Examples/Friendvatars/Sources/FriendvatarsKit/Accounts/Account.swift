import Foundation

/// Somebody who has signed up.
public struct Account: Sendable, Hashable, Identifiable {
    /// What sessions, rows and files know the account by; says nothing about the person.
    public let id: UUID
    /// The address that the person signs in with.
    public let email: EmailAddress
    /// The name that is shown.
    public let name: String

    /// The longest name, in characters.
    public static let maximalNameLength = 60
}

/// What a person has to mend in a form, by the field that it stands beside.
public struct FormProblems: Error, Sendable, Equatable {
    /// A field of a form.
    public enum Field: String, Sendable, Hashable, CaseIterable {
        case email, name, password
        /// None of them, or all.
        case form
    }

    /// What to say beside which field.
    public private(set) var messages: [Field: String]

    /// Problems; none at first.
    public init(_ messages: [Field: String] = [:]) {
        self.messages = messages
    }

    /// Whether there are none.
    public var isEmpty: Bool { messages.isEmpty }

    /// What to say beside a field.
    public subscript(field: Field) -> String? {
        get { messages[field] }
        set { messages[field] = newValue }
    }
}

/// Why nobody was signed in.
public enum SignInFailure: Error, Sendable, Equatable {
    /// No account has this address and this password. Which of the two it is, nobody is told.
    case wrong
    /// Too many tries; the next one may be made after this long.
    case tooManyTries(wait: Duration)
}
