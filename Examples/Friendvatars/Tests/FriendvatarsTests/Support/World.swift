import AsyncHTTPClient
import Credentials
import Foundation
import FriendvatarsKit
import Glibc
import KeychainTesting

/// A folder that goes away with the test.
struct TemporaryFolder: ~Copyable, Sendable {
    let url: URL

    init() throws {
        // Short: sockets below it have paths of 107 bytes at most (unix(7)).
        url = FileManager.default.temporaryDirectory.appending(path: "friends-\(UUID().uuidString.prefix(13))")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try TestWatcher.remove(url)
    }

    deinit {
        // A process that is about to end may put a file into it meanwhile.
        for _ in 0..<1_000 {
            if (try? FileManager.default.removeItem(at: url)) != nil
                || access(url.path(percentEncoded: false), F_OK) != 0
            {
                return
            }
            usleep(1_000)
        }
    }
}

/// The app in a folder and a keychain of its own. Passwords cost little, as no one attacks them.
@discardableResult
func withApp<Result>(
    service: AvatarService? = nil, _ body: (FriendvatarsApp, DataFolder, TestKeychain) async throws -> Result
) async throws -> Result {
    let folder = try TemporaryFolder()
    let keychain = try TestKeychain()
    let data = try DataFolder(folder.url, usesOwnVault: false)
    return try await keychain.run {
        let app = try await FriendvatarsApp(in: data, service: service, hasher: .cheap)
        let result = try await body(app, data, keychain)
        try? app.store.close()
        return result
    }
}

extension PasswordHasher {
    static let cheap = PasswordHasher(cost: .init(memoryKiB: 8, passes: 1))
}

extension FriendvatarsApp {
    /// Ada, with a password that the policy takes.
    func ada(_ email: String = "ada@example.com") async throws -> Account {
        try await accounts.signUp(email: email, name: "Ada Lovelace", password: goodPassword)
    }
}

let goodPassword = "violet otter climbs"
