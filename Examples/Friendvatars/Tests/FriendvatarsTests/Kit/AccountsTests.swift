import Credentials
import Foundation
import FriendvatarsKit
import Testing

struct AccountsTests {
    @Test func signUpAndIn() async throws {
        try await withApp { app, _, _ in
            let ada = try await app.ada()
            let found = try await app.accounts.signIn(email: " ADA@example.com", password: goodPassword, from: nil)
            #expect(found == ada)
            #expect(try await app.account(ada.id) == ada)
        }
    }

    @Test func wrong() async throws {
        try await withApp { app, _, _ in
            _ = try await app.ada()
            for (email, password) in [
                ("ada@example.com", "violet otter climb"), ("ada@example.com", ""), ("bob@example.com", goodPassword),
                ("", ""),
                ("ada@example.com", String(repeating: "x", count: 5_000)),
            ] {
                await #expect(throws: SignInFailure.wrong) {
                    try await app.accounts.signIn(email: email, password: password, from: nil)
                }
            }
        }
    }

    @Test func whatAFormSays() async throws {
        try await withApp { app, _, _ in
            func problems(_ email: String, _ name: String, _ password: String) async -> [FormProblems.Field] {
                do {
                    _ = try await app.accounts.signUp(email: email, name: name, password: password)
                    return []
                } catch {
                    return (error as? FormProblems)?.messages.keys.sorted { $0.rawValue < $1.rawValue } ?? []
                }
            }
            #expect(await problems("ada", "", "short") == [.email, .name, .password])
            #expect(await problems("ada@example.com", "Ada", "ada@example.com") == [.password])
            #expect(await problems("ada@example.com", "A\u{0}da", goodPassword) == [.name])
            #expect(await problems("ada@example.com", String(repeating: "a", count: 61), goodPassword) == [.name])
            for unseen in ["\u{FEFF}", "\u{AD}\u{200D}", "\u{301}\u{20E3}"] {
                #expect(await problems("ada@example.com", unseen, goodPassword) == [.name])
            }
            #expect(await problems("emoji@example.com", "👩‍🚀", goodPassword) == [])
            #expect(await problems("ada@example.com", "Ada", goodPassword) == [])
            #expect(await problems("ADA@example.com", "Ada", goodPassword) == [.email])
        }
    }

    @Test func triesAreSlowedDown() async throws {
        try await withApp { app, _, _ in
            _ = try await app.ada()
            var wait: SignInFailure?
            for _ in 0..<10 where wait == nil {
                do {
                    _ = try await app.accounts.signIn(email: "ada@example.com", password: "wrong", from: "192.0.2.1")
                } catch let failure as SignInFailure where failure != .wrong {
                    wait = failure
                } catch SignInFailure.wrong {}
            }
            #expect(wait != nil)
        }
    }

    /// An attacker who tries a person's passwords from another device does not block the person's known device.
    @Test func knownDevicesAreNotHeldUp() async throws {
        try await withApp { app, _, _ in
            let device = app.accounts.deviceToken(for: try await app.ada())
            for number in 0..<10 {
                _ = try? await app.accounts.signIn(
                    email: "ada@example.com", password: "wrong", from: "192.0.2.\(number)")
            }
            await #expect(throws: SignInFailure.self) {
                try await app.accounts.signIn(email: "ada@example.com", password: goodPassword, from: "198.51.100.1")
            }
            _ = try await app.accounts.signIn(
                email: "ada@example.com", password: goodPassword, from: "198.51.100.1", device: device)
        }
    }

    @Test func manySignUpsFromOnePlace() async throws {
        try await withApp { app, _, _ in
            await #expect(throws: SignInFailure.self) {
                for number in 0..<50 {
                    _ = try await app.accounts.signUp(
                        email: "x\(number)@example.com", name: "X", password: goodPassword, from: "192.0.2.1")
                }
            }
        }
    }

    /// Many people at once who want the same address: one gets it.
    @Test func oneOfMany() async throws {
        try await withApp { app, _, _ in
            let count = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<8 { group.addTask { (try? await app.ada()) != nil } }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(count == 1)
            _ = try await app.accounts.signIn(email: "ada@example.com", password: goodPassword, from: nil)
        }
    }

    @Test func deletionNeedsThePassword() async throws {
        try await withApp { app, _, _ in
            let ada = try await app.ada()
            await #expect(throws: SignInFailure.wrong) {
                try await app.deleteAccount(ada.id, password: "violet otter", from: nil)
            }
            #expect(try await app.account(ada.id) != nil)
        }
    }

    /// A person who restores older files gets nothing of the deleted account, and everything of the others.
    @Test func deletedForGood() async throws {
        try await withApp(service: nil) { app, folder, _ in
            let ada = try await app.ada()
            let bob = try await app.ada("bob@example.com")
            for account in [ada, bob] {
                try await app.friends.add(email: "carla@example.com", name: "Carla", to: account.id)
            }
            let token = try await app.sessions.issue(for: ada.id.uuidString)
            try app.store.close()
            let copy = folder.url.appending(path: "../copy-\(UUID().uuidString)").standardizedFileURL
            defer { try? FileManager.default.removeItem(at: copy) }
            try FileManager.default.copyItem(at: folder.url, to: copy)

            let again = try await FriendvatarsApp(in: folder, service: nil, hasher: .cheap)
            try await again.deleteAccount(ada.id, password: goodPassword, from: nil)
            #expect(try await again.account(ada.id) == nil)
            #expect(try await again.sessions.check(token.text) == nil)
            #expect(try await again.friends.friends(of: ada.id).isEmpty)
            #expect(try await again.friends.friends(of: bob.id).map(\.name) == ["Carla"])
            // The address is free again.
            _ = try await again.ada()
            try again.store.close()

            let restored = try DataFolder(copy, usesOwnVault: false)
            let old = try await FriendvatarsApp(in: restored, service: nil, hasher: .cheap)
            await #expect(throws: (any Error).self) { try await old.account(ada.id) }
            await #expect(throws: (any Error).self) { try await old.friends.friends(of: ada.id) }
            await #expect(throws: (any Error).self) {
                try await old.accounts.signIn(email: "ada@example.com", password: goodPassword, from: nil)
            }
            #expect(try await old.friends.friends(of: bob.id).map(\.name) == ["Carla"])
            try old.store.close()
        }
    }
}
