import ArgumentParser
import Credentials
import Foundation
import FriendvatarsKit

/// Where the app keeps what it keeps.
struct DataOptions: ParsableArguments {
    @Option(help: "The folder of the server's data; else $FRIENDVATARS_DATA, else friendvatars-data.")
    var data: String?

    /// Runs `body` with the app in the folder.
    ///
    /// - Parameter isMade: Whether the folder is made if it is not there; else that is an error, as a folder that was
    ///   misspelt is.
    func withApp<Result>(
        isMade: Bool = false, hasher: PasswordHasher = PasswordHasher(),
        _ body: (FriendvatarsApp, DataFolder) async throws -> Result
    ) async throws -> Result {
        let url = DataFolder.location(named: data)
        let database = url.appending(path: "friends.db").path(percentEncoded: false)
        guard isMade || FileManager.default.fileExists(atPath: database) else {
            let path = printable(url.path(percentEncoded: false))
            throw TerminalFailure(
                "There are no accounts in \(path); sign-up makes the first, and --data names another folder.")
        }
        let folder = try DataFolder(url)
        // Pictures that the server has fetched are shown; a terminal asks nobody on the network.
        let app = try await FriendvatarsApp(in: folder, service: nil, hasher: hasher)
        do {
            let result = try await body(app, folder)
            // What was committed is on the disk; the server may have the log open.
            try? app.store.close()
            return result
        } catch {
            try? app.store.close()
            throw error
        }
    }

    /// Runs `body` for the person who is signed in.
    func withMember<Result>(_ body: (FriendvatarsApp, Membership, Account) async throws -> Result) async throws
        -> Result
    {
        try await withApp { app, folder in
            let membership = try Membership(of: app, in: folder)
            guard let account = try await membership.current() else { throw TerminalFailure.notSignedIn }
            return try await body(app, membership, account)
        }
    }
}
