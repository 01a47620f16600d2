import Foundation
import GRDB
import ProtectedDatabase
import Testing

@testable import FriendvatarsKit

struct FriendListTests {
    @Test func addAndRemove() async throws {
        try await withApp { app, _, _ in
            let ada = try await app.ada()
            let zoe = try await app.friends.add(email: "zoe@example.com", name: " Zoe ", to: ada.id)
            let bob = try await app.friends.add(email: "Bob@Example.com", name: "bob", to: ada.id)
            #expect(try await app.friends.friends(of: ada.id) == [bob, zoe])
            #expect(zoe.name == "Zoe")
            try await app.removeFriend(zoe.id, of: ada.id)
            #expect(try await app.friends.friends(of: ada.id) == [bob])
        }
    }

    @Test func whatAFormSays() async throws {
        try await withApp { app, _, _ in
            let ada = try await app.ada()
            try await app.friends.add(email: "zoe@example.com", name: "Zoe", to: ada.id)
            for (email, name, field) in [
                ("ZOE@example.com", "Zoe", FormProblems.Field.email), ("zoe", "Zoe", .email),
                ("eve@example.com", " ", .name),
            ] {
                do {
                    try await app.friends.add(email: email, name: name, to: ada.id)
                    Issue.record("\(field) was taken")
                } catch let problems as FormProblems {
                    #expect(Array(problems.messages.keys) == [field])
                }
            }
            // Of somebody else's list nothing is known.
            let bob = try await app.ada("bob@example.com")
            try await app.friends.add(email: "zoe@example.com", name: "Zoe", to: bob.id)
        }
    }

    @Test func othersListsAreOutOfReach() async throws {
        try await withApp { app, _, _ in
            let (ada, bob) = (try await app.ada(), try await app.ada("bob@example.com"))
            let zoe = try await app.friends.add(email: "zoe@example.com", name: "Zoe", to: ada.id)
            try await app.removeFriend(zoe.id, of: bob.id)
            #expect(try await app.friends.friends(of: ada.id) == [zoe])
            #expect(try await app.avatar(of: zoe.id, for: bob.id) == nil)
            #expect(try await app.avatar(of: zoe.id, for: ada.id) != nil)
        }
    }

    /// What is damaged hides nobody else, and can be removed.
    @Test func damagedEntries() async throws {
        try await withApp { app, _, _ in
            let ada = try await app.ada()
            let zoe = try await app.friends.add(email: "zoe@example.com", name: "Zoe", to: ada.id)
            let bob = try await app.friends.add(email: "bob@example.com", name: "Bob", to: ada.id)
            let eve = try await app.friends.add(email: "eve@example.com", name: "Eve", to: ada.id)
            try await app.store.database.write { db in
                try db.execute(
                    sql: "UPDATE friend SET name = (SELECT name FROM friend WHERE id = ?) WHERE id = ?",
                    arguments: [bob.id.uuidString, zoe.id.uuidString])
                try db.execute(
                    sql: "UPDATE friend SET email = x'00' WHERE id = ?", arguments: [eve.id.uuidString])
            }
            let list = try await app.friends.contents(of: ada.id)
            #expect(list.friends == [bob])
            #expect(Set(list.damaged) == [zoe.id, eve.id])
            #expect(try await app.avatar(of: zoe.id, for: ada.id) == nil)
            try await app.removeFriend(zoe.id, of: ada.id)
            try await app.removeFriend(eve.id, of: ada.id)
            #expect(try await app.friends.contents(of: ada.id) == FriendList.Contents(friends: [bob]))
        }
    }

    @Test func limit() async throws {
        try await withApp { app, _, _ in
            let ada = try await app.ada()
            for number in 0..<FriendList.maximalCount {
                try await app.friends.add(email: "friend\(number)@example.com", name: "Friend", to: ada.id)
            }
            await #expect(throws: FormProblems.self) {
                try await app.friends.add(email: "one.more@example.com", name: "Friend", to: ada.id)
            }
        }
    }
}
