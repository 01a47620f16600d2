import ArgumentParser
import Foundation
import FriendvatarsKit
import Keychain

/// The app in a terminal.
@main
struct FriendvatarsTerminal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "friendvatars-terminal", abstract: "Friendvatars in a terminal: sign in, and see your friends.",
        discussion: """
            It works on the data folder of the server, which may run at the same time or not.

            Example: friendvatars-terminal sign-in ada@example.com
            """,
        subcommands: [
            SignUp.self, SignIn.self, SignOut.self, Status.self, Friends.self, Add.self, Remove.self, Picture.self,
            DeleteAccount.self, Seed.self,
        ])

    static func main() async {
        StandardDescriptors.fill()
        do {
            // Keys are in the group that is named after the server's executable.
            if (ProcessInfo.processInfo.environment["KEYCHAIN_ACCESS_GROUPS"] ?? "").isEmpty {
                try KeychainProgram.declare(identifier: "friendvatars-terminal", accessGroups: ["friendvatars"])
            }
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            exit(withError: TerminalFailure.saying(error))
        }
    }
}
