import Foundation
import FriendvatarsKit

/// Why a command did nothing, for the person who gave it.
struct TerminalFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    static let notSignedIn = TerminalFailure("Nobody is signed in; sign in with: friendvatars-terminal sign-in ADDRESS")

    /// What the app's own errors mean; any other as it is.
    static func saying(_ error: any Error) -> any Error {
        switch error {
        case let problems as FormProblems:
            TerminalFailure(FormProblems.Field.allCases.compactMap { problems[$0] }.joined(separator: " "))
        case SignInFailure.wrong: TerminalFailure("The e-mail address or the password is wrong.")
        case SignInFailure.tooManyTries(let wait):
            TerminalFailure("Too many tries. Please wait for \(wait.components.seconds + 1) seconds.")
        default: error
        }
    }
}
