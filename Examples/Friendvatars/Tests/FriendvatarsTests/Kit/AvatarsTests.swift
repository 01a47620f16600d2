import AsyncHTTPClient
import Foundation
import Testing

@testable import FriendvatarsKit

@Suite(.timeLimit(.minutes(5)))
struct AvatarsTests {
    /// A service, and the hash by which it knows Zoe.
    private func withService(
        _ form: AvatarHashForm = .sha256, _ body: (AvatarStub, AvatarService, EmailAddress) async throws -> Void
    ) async throws {
        let stub = try await AvatarStub()
        let client = AvatarService.makeClient()
        let service = try #require(AvatarService(address: stub.address, form: form, client: client))
        let zoe = try #require(EmailAddress("zoe@example.com"))
        stub.setPicture(Pictures.red, for: zoe.avatarHash(form))
        do {
            try await body(stub, service, zoe)
        } catch {
            try await client.shutdown()
            throw error
        }
        try await client.shutdown()
    }

    @Test(arguments: AvatarHashForm.allCases)
    func fetchedOnce(_ form: AvatarHashForm) async throws {
        try await withService(form) { stub, service, zoe in
            try await withApp(service: service) { app, folder, _ in
                let ada = try await app.ada()
                let pictures = await withTaskGroup(of: Data.self) { group in
                    for _ in 0..<10 { group.addTask { await app.avatars.avatar(of: zoe, for: ada.id).bytes } }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect(pictures == Array(repeating: Pictures.red, count: 10))
                #expect(stub.questions == [zoe.avatarHash(form)])
                // Another start finds it on the disk, where nothing shows it.
                let again = Avatars(in: folder, store: app.store, service: service)
                #expect(await again.avatar(of: zoe, for: ada.id).bytes == Pictures.red)
                #expect(stub.questions.count == 1)
                let files = try FileManager.default.subpathsOfDirectory(atPath: folder.url.path(percentEncoded: false))
                #expect(files.contains { $0.hasPrefix("avatars/\(ada.id.uuidString)/") })
                #expect(!files.contains { $0.contains(zoe.avatarHash(form)) })
                for file in files {
                    let bytes = (try? Data(contentsOf: folder.url.appending(path: file))) ?? Data()
                    #expect(bytes.range(of: Pictures.red) == nil, "\(file)")
                }
            }
        }
    }

    @Test(arguments: AvatarStub.Mood.allCases.filter { $0 != .normal && $0 != .waiting })
    func generatedInstead(_ mood: AvatarStub.Mood) async throws {
        try await withService { stub, service, zoe in
            stub.mood = mood
            try await withApp(service: service) { app, _, _ in
                let ada = try await app.ada()
                for _ in 0..<3 {
                    #expect(await app.avatars.avatar(of: zoe, for: ada.id) == Avatar(generatedFor: zoe))
                }
                #expect(stub.questions.count == 1)
            }
        }
    }

    @Test func unknownAndOffline() async throws {
        try await withService { stub, service, _ in
            let eve = try #require(EmailAddress("eve@example.com"))
            try await withApp(service: service) { app, _, _ in
                let ada = try await app.ada()
                #expect(await app.avatars.avatar(of: eve, for: ada.id) == Avatar(generatedFor: eve))
            }
            #expect(stub.questions == [eve.avatarHash(.sha256)])
        }
        let client = AvatarService.makeClient()
        let eve = try #require(EmailAddress("eve@example.com"))
        // Nobody listens at the discard port.
        let service = AvatarService(address: "http://127.0.0.1:9/{hash}", form: .md5, client: client)
        try await withApp(service: service) { app, _, _ in
            let ada = try await app.ada()
            #expect(await app.avatars.avatar(of: eve, for: ada.id) == Avatar(generatedFor: eve))
        }
        try await client.shutdown()
    }

    @Test func goneWithFriendAndAccount() async throws {
        try await withService { _, service, zoe in
            try await withApp(service: service) { app, folder, _ in
                let ada = try await app.ada()
                func files() throws -> Int {
                    try FileManager.default.subpathsOfDirectory(atPath: folder.url.path(percentEncoded: false))
                        .filter { $0.hasPrefix("avatars/\(ada.id.uuidString)/") }.count
                }
                let friend = try await app.friends.add(email: zoe.text, name: "Zoe", to: ada.id)
                _ = try await app.avatar(of: friend.id, for: ada.id)
                #expect(try files() == 1)
                try await app.removeFriend(friend.id, of: ada.id)
                #expect(try files() == 0)
                _ = await app.avatars.avatar(of: zoe, for: ada.id)
                #expect(try files() == 1)
                try await app.deleteAccount(ada.id, password: goodPassword, from: nil)
                #expect(try files() == 0)
                #expect(await app.avatars.avatar(of: zoe, for: ada.id) == Avatar(generatedFor: zoe))
                #expect(try files() == 0)
            }
        }
    }

    /// The service answers when the account is gone: what it says is for nobody any more, and no keys are made for it.
    @Test func deletedDuringAFetch() async throws {
        try await withService { stub, service, zoe in
            try await withApp(service: service) { app, folder, _ in
                let ada = try await app.ada()
                let friend = try await app.friends.add(email: zoe.text, name: "Zoe", to: ada.id)
                stub.mood = .waiting
                let fetch = Task { try await app.avatar(of: friend.id, for: ada.id) }
                try await stub.hasQuestions(1)
                try await app.deleteAccount(ada.id, password: goodPassword, from: nil)
                stub.mood = .normal
                // There is no such account any more, or what it had was made of the address alone.
                let answer = try? await fetch.value
                #expect(answer == nil || answer == Avatar(generatedFor: zoe))
                let files = try FileManager.default.subpathsOfDirectory(atPath: folder.url.path(percentEncoded: false))
                #expect(!files.contains { $0.contains(ada.id.uuidString) })
                #expect(try await app.friends.friends(of: ada.id).isEmpty)
                #expect(throws: AccountIsGone.self) { try app.store.keys.sealing(of: ada.id) }
            }
        }
    }

    /// Another process has deleted the account meanwhile: what came for it goes, at once or at the next start.
    @Test func deletedElsewhere() async throws {
        try await withService { stub, service, zoe in
            stub.setPicture(Pictures.red, for: try #require(EmailAddress("ada@example.com")).avatarHash(.sha256))
            try await withApp(service: service) { app, folder, _ in
                let ada = try await app.ada()
                let other = try await FriendvatarsApp(in: folder, service: nil, hasher: .cheap)
                stub.mood = .waiting
                let fetch = Task { try await app.ownAvatar(of: ada.id) }
                try await stub.hasQuestions(1)
                try await other.deleteAccount(ada.id, password: goodPassword, from: nil)
                stub.mood = .normal
                #expect(try await fetch.value == nil)
                let left = folder.url.appending(path: "avatars/\(ada.id.uuidString)").path(percentEncoded: false)
                #expect(!FileManager.default.fileExists(atPath: left))
                try FileManager.default.createDirectory(atPath: left + "/x", withIntermediateDirectories: true)
                try other.store.close()
                let again = try await FriendvatarsApp(in: folder, service: nil, hasher: .cheap)
                #expect(!FileManager.default.fileExists(atPath: left))
                try again.store.close()
            }
        }
    }

    /// A list that changes all the time asks a service only so often.
    @Test func budget() {
        var budget = FetchBudget()
        let (ada, bob) = (UUID(), UUID())
        let now = ContinuousClock.now
        let taken = (0..<2 * FetchBudget.limit).count { _ in budget.take(for: ada, at: now) }
        #expect(taken == FetchBudget.limit)
        let answers = [
            budget.take(for: ada, at: now + .seconds(3_599)), budget.take(for: bob, at: now),
            budget.take(for: ada, at: now + .seconds(3_600)),
        ]
        #expect(answers == [false, true, true])
    }

    /// The owner of the files on the disk can lose, cut or change them. Then the program fetches the picture again.
    @Test func damagedFiles() async throws {
        try await withService { stub, service, zoe in
            try await withApp(service: service) { app, folder, _ in
                let ada = try await app.ada()
                _ = await app.avatars.avatar(of: zoe, for: ada.id)
                let avatars = folder.url.appending(path: "avatars/\(ada.id.uuidString)")
                let name = try #require(
                    FileManager.default.contentsOfDirectory(atPath: avatars.path(percentEncoded: false)).first)
                let whole = try Data(contentsOf: avatars.appending(path: name))
                for length in [0, 1, whole.count / 2, whole.count - 1] {
                    try whole.prefix(length).write(to: avatars.appending(path: name))
                    let again = Avatars(in: folder, store: app.store, service: service)
                    #expect(await again.avatar(of: zoe, for: ada.id).bytes == Pictures.red)
                }
                #expect(stub.questions.count == 5)
            }
        }
    }

    @Test(arguments: ["", "none", "ftp://example.com/{hash}", "https://example.com/", "https:///{hash}", "{hash}"])
    func noAddress(_ address: String) async throws {
        let client = AvatarService.makeClient()
        #expect(AvatarService(address: address, form: .sha256, client: client) == nil)
        try await client.shutdown()
    }
}
