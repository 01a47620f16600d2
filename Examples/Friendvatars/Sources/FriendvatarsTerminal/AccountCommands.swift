import ArgumentParser
import Foundation
import FriendvatarsKit

struct SignUp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make an account, and sign in.",
        discussion: "Example: friendvatars-terminal sign-up ada@example.com \"Ada Lovelace\"")

    @Argument(help: "Your e-mail address.") var address: String
    @Argument(help: "Your name.") var name: String
    @OptionGroup var password: PasswordInput
    @OptionGroup var options: DataOptions

    func run() async throws {
        let typed = try password.read(isNew: true)
        try await options.withApp(isMade: true) { app, folder in
            let account = try await app.accounts.signUp(email: address, name: name, password: typed)
            try await Membership(of: app, in: folder).signIn(account, password: typed)
            print("Welcome, \(printable(account.name)).")
        }
    }
}

struct SignIn: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sign in; whoever was signed in at this terminal is signed out.",
        discussion: "Example: friendvatars-terminal sign-in ada@example.com")

    @Argument(help: "Your e-mail address.") var address: String
    @OptionGroup var password: PasswordInput
    @OptionGroup var options: DataOptions

    func run() async throws {
        try await options.withApp { app, folder in
            let typed = try password.read()
            let account = try await app.accounts.signIn(email: address, password: typed, from: nil)
            try await Membership(of: app, in: folder).signIn(account, password: typed)
            print("You are signed in as \(printable(account.name)).")
        }
    }
}

struct SignOut: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sign out: nothing of the account stays with this terminal.",
        discussion: "Example: friendvatars-terminal sign-out")

    @OptionGroup var options: DataOptions

    func run() async throws {
        try await options.withApp { app, folder in
            let wasSignedIn = try await Membership(of: app, in: folder).signOut()
            print(wasSignedIn ? "You are signed out." : "Nobody was signed in.")
        }
    }
}

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say who is signed in. Ends with 1 if nobody is.",
        discussion: "Example: friendvatars-terminal status --json")

    @Flag(help: "As JSON.") var json = false
    @OptionGroup var options: DataOptions

    private struct Answer: Encodable {
        var signedIn = false
        var name, address, folder: String?
        var friends: Int?
    }

    func run() async throws {
        let answer = try await options.withApp { app, folder in
            let path = folder.url.path(percentEncoded: false)
            guard let account = try await Membership(of: app, in: folder).current() else { return Answer(folder: path) }
            let friends = try await app.friends.friends(of: account.id)
            return Answer(
                signedIn: true, name: account.name, address: account.email.text, folder: path, friends: friends.count)
        }
        if json {
            print(try encoded(answer))
        } else if let name = answer.name, let address = answer.address {
            print(
                "Signed in: \(printable(name)), \(printable(address)), with \(answer.friends ?? 0) friend\(answer.friends == 1 ? "" : "s")"
            )
            print("Data: \(printable(answer.folder ?? ""))")
        } else {
            print("Nobody is signed in.")
        }
        if !answer.signedIn { throw ExitCode.failure }
    }
}

struct DeleteAccount: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Delete your account with all that belongs to it, for good.",
        discussion: """
            The password is asked for again. The keys of the account are destroyed, so that copies of the database show nothing of \
            it any more.

            Example: friendvatars-terminal delete-account
            """)

    @OptionGroup var password: PasswordInput
    @OptionGroup var options: DataOptions

    func run() async throws {
        try await options.withMember { app, membership, account in
            do {
                try await app.deleteAccount(account.id, password: try password.read(), from: nil)
            } catch SignInFailure.wrong {
                throw TerminalFailure("The password is wrong.")
            }
            try await membership.signOut()
            print("Your account is deleted.")
        }
    }
}
