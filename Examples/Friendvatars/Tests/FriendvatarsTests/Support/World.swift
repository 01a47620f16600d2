import AsyncHTTPClient
import Credentials
import Foundation
import FriendvatarsKit
import KeychainTesting

/// A folder that goes away with the test.
struct TemporaryFolder: ~Copyable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "friendvatars-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try TestWatcher.remove(url)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
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
    static let cheap = PasswordHasher(cost: Cost(memoryKiB: 8, passes: 1))
}

extension FriendvatarsApp {
    /// Ada, with a password that the policy takes.
    func ada(_ email: String = "ada@example.com") async throws -> Account {
        try await accounts.signUp(email: email, name: "Ada Lovelace", password: goodPassword)
    }
}

let goodPassword = "violet otter climbs"
