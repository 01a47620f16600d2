import FriendvatarsKit
import Hummingbird

// What the forms of the pages send. A field that is missing is empty, which each form says something about.

struct SignInForm: Decodable {
    var email: String?
    var password: String?

    func content(_ token: String, problem: String? = nil) -> FormContent {
        FormContent(
            action: "/sign-in", button: "Sign in", token: token, problem: problem,
            fields: [
                FieldContent(
                    "email", "E-mail address", type: "email", value: email ?? "", autocomplete: "username", limit: 254),
                FieldContent(
                    "password", "Password", type: "password", autocomplete: "current-password", limit: 1_024),
            ])
    }
}

struct SignUpForm: Decodable {
    var email: String?
    var name: String?
    var password: String?

    func content(_ token: String, _ problems: FormProblems = FormProblems()) -> FormContent {
        FormContent(
            action: "/sign-up", button: "Sign up", token: token, problem: problems.summary,
            fields: [
                FieldContent(
                    "email", "E-mail address", type: "email", value: email ?? "", autocomplete: "username", limit: 254,
                    error: problems[.email]),
                FieldContent(
                    "name", "Name", value: name ?? "", autocomplete: "name", limit: Account.maximalNameLength,
                    error: problems[.name]),
                FieldContent(
                    "password", "Password", type: "password", autocomplete: "new-password", limit: 1_024,
                    hint: "At least 8 characters. Long is better than strange.", error: problems[.password]),
            ])
    }
}

struct FriendForm: Decodable {
    var email: String?
    var name: String?

    func content(_ token: String, _ problems: FormProblems = FormProblems()) -> FormContent {
        FormContent(
            action: "/friends", button: "Add", token: token, problem: problems.summary,
            fields: [
                FieldContent(
                    "name", "Name", value: name ?? "", autocomplete: "off", limit: Account.maximalNameLength,
                    error: problems[.name]),
                FieldContent(
                    "email", "E-mail address", type: "email", value: email ?? "", autocomplete: "off", limit: 254,
                    error: problems[.email]),
            ])
    }
}

struct RemovalForm: Decodable {
    var friend: String?
}

struct DeletionForm: Decodable {
    var password: String?

    static func content(_ token: String, problem: String? = nil) -> FormContent {
        FormContent(
            action: "/account/delete", button: "Delete the account", token: token, problem: problem,
            fields: [
                FieldContent(
                    "password", "Your password, once more", type: "password", autocomplete: "current-password",
                    limit: 1_024)
            ])
    }
}

extension FormProblems {
    /// What stands above a form.
    fileprivate var summary: String? {
        isEmpty ? nil : self[.form] ?? "Please look at the fields below once more."
    }
}

extension SignInFailure {
    /// What to tell the person.
    var sentence: String {
        switch self {
        case .wrong: return "The e-mail address or the password is wrong."
        case .tooManyTries(let wait):
            let seconds = max(1, Int(wait.components.seconds) + 1)
            return "Too many tries. Please wait for \(seconds) second\(seconds == 1 ? "" : "s")."
        }
    }

    var status: HTTPResponse.Status { self == .wrong ? .unprocessableContent : .tooManyRequests }

    /// In seconds, for the header Retry-After; nil where there is nothing to wait for.
    var retryAfter: Int? {
        if case .tooManyTries(let wait) = self { return max(1, Int(wait.components.seconds) + 1) }
        return nil
    }
}
