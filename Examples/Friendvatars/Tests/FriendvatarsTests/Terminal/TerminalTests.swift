import Foundation
import FriendvatarsKit
import Testing

/// The terminal client as scripts use it, in processes of its own.
@Suite(.timeLimit(.minutes(10)))
struct TerminalTests {
    private struct Status: Decodable {
        let signedIn: Bool
        let name, address: String?
        let friends: Int?
    }

    private struct Listed: Decodable, Equatable {
        let name, address: String
    }

    private func withTerminal(_ body: (TerminalProgram) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        try await body(
            try TerminalProgram(data: folder.url.appending(path: "data"), home: folder.url.appending(path: "home")))
    }

    private func signUp(_ terminal: TerminalProgram, _ email: String = "ada@example.com") async throws {
        let outcome = try await terminal.run(["sign-up", email, "Ada Lovelace"], input: goodPassword + "\n")
        try #require(outcome.status == 0, "\(outcome.errors)")
    }

    @Test func wholeLife() async throws {
        try await withTerminal { terminal in
            try await signUp(terminal)
            let status = try await terminal.run(["status", "--json"])
            let found = try JSONDecoder().decode(Status.self, from: status.output)
            #expect(status.status == 0 && found.signedIn && found.address == "ada@example.com" && found.friends == 0)
            #expect(try await terminal.run(["friends"]).text == "")

            #expect(try await terminal.run(["add", "Zoe", "Zoe@example.com"]).text == "Zoe is on your list.\n")
            #expect(try await terminal.run(["add", "Bob", "bob@example.com"]).status == 0)
            let again = try await terminal.run(["add", "Zoe", "zoe@example.com"])
            #expect(again.status == 1 && again.errors.contains("Somebody with this address is on your list."))
            #expect(try await terminal.run(["friends"]).text == "Bob\tbob@example.com\nZoe\tzoe@example.com\n")
            let list = try JSONDecoder().decode(
                [Listed].self, from: try await terminal.run(["friends", "--json"]).output)
            #expect(
                list == [
                    Listed(name: "Bob", address: "bob@example.com"), Listed(name: "Zoe", address: "zoe@example.com"),
                ])

            let zoe = Avatar(generatedFor: try #require(EmailAddress("zoe@example.com")))
            let picture = terminal.home.appending(path: "zoe.svg")
            let written = try await terminal.run(["avatar", "zoe", "--output", picture.path(percentEncoded: false)])
            #expect(written.status == 0)
            #expect(try Data(contentsOf: picture) == zoe.bytes)
            #expect(try await terminal.run(["avatar", "ZOE@example.com", "--output", "-"]).output == zoe.bytes)

            #expect(try await terminal.run(["remove", "Zoe"]).status == 0)
            #expect(try await terminal.run(["remove", "Zoe"]).status == 1)
            #expect(try await terminal.run(["friends"]).text == "Bob\tbob@example.com\n")

            #expect(try await terminal.run(["sign-out"]).text == "You are signed out.\n")
            let nobody = try await terminal.run(["friends"])
            #expect(nobody.status == 1 && nobody.text.isEmpty && nobody.errors.contains("Nobody is signed in"))
            let back = try await terminal.run(
                ["sign-in", "ada@example.com", "--password-fd", "3"], password: goodPassword + "\n")
            #expect(back.status == 0)
            #expect(try await terminal.run(["friends"]).text == "Bob\tbob@example.com\n")

            #expect(try await terminal.run(["delete-account"], input: "not this\n").status == 1)
            #expect(try await terminal.run(["status"]).status == 0)
            #expect(
                try await terminal.run(["delete-account"], input: goodPassword).text == "Your account is deleted.\n")
            #expect(try await terminal.run(["status"]).status == 1)
            #expect(try await terminal.run(["sign-in", "ada@example.com"], input: goodPassword).status == 1)
        }
    }

    /// A picture goes through whatever is there, and is for its owner alone where nothing is.
    @Test func picturesIntoFiles() async throws {
        try await withTerminal { terminal in
            try await signUp(terminal)
            #expect(try await terminal.run(["add", "Zoe", "zoe@example.com"]).status == 0)
            let zoe = Avatar(generatedFor: try #require(EmailAddress("zoe@example.com"))).bytes
            let (file, link) = (terminal.home.appending(path: "zoe.svg"), terminal.home.appending(path: "link"))
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
            #expect(
                try await terminal.run(["avatar", "Zoe", "--output", link.path(percentEncoded: false)]).status == 0)
            #expect(try Data(contentsOf: file) == zoe)
            let mode = try FileManager.default.attributesOfItem(atPath: file.path(percentEncoded: false))[
                .posixPermissions]
            #expect(mode as? Int == 0o600)
            #expect(
                try FileManager.default.destinationOfSymbolicLink(atPath: link.path(percentEncoded: false))
                    == file.path(percentEncoded: false))
            let nowhere = try await terminal.run(["avatar", "Zoe", "--output", "/nowhere/zoe.svg"])
            #expect(nowhere.status == 1 && nowhere.errors.contains("/nowhere/zoe.svg cannot be written: No such file"))
        }
    }

    /// A descriptor that is not open is none of the program's own files.
    @Test func noSuchDescriptor() async throws {
        try await withTerminal { terminal in
            try await signUp(terminal)
            for number in ["3", "7", "9", "55"] {
                let outcome = try await terminal.run(["sign-in", "ada@example.com", "--password-fd", number])
                #expect(
                    outcome.status == 64 && outcome.errors.contains("there is no descriptor \(number)"),
                    "\(outcome.errors)")
            }
            #expect(
                try await terminal.run(["sign-in", "ada@example.com"], input: goodPassword + "\r\n").status == 0)
        }
    }

    @Test func wrongPassword() async throws {
        try await withTerminal { terminal in
            try await signUp(terminal)
            for (address, typed) in [("ada@example.com", "umbrella seven"), ("eve@example.com", goodPassword)] {
                let outcome = try await terminal.run(["sign-in", address], input: typed)
                #expect(outcome.status == 1 && outcome.text.isEmpty)
                #expect(outcome.errors == "Error: The e-mail address or the password is wrong.\n")
            }
            #expect(try await terminal.run(["sign-in", "ada@example.com"]).errors.contains("No password was given."))
            let weak = try await terminal.run(["sign-up", "bob", ""], input: "short")
            #expect(weak.status == 1 && weak.errors.contains("e-mail address") && weak.errors.contains("at least 8"))
            // Ada is signed in still.
            #expect(try await terminal.run(["status"]).status == 0)
        }
    }

    /// Neither the note in the preferences nor what was in the keychain is any good after a sign-out.
    @Test func signOutRemovesAll() async throws {
        try await withTerminal { terminal in
            try await signUp(terminal)
            let vault = terminal.data.appending(path: "vault")
            let (homeBefore, vaultBefore) = (
                URL(fileURLWithPath: terminal.home.path + ".before"), URL(fileURLWithPath: vault.path + ".before")
            )
            try FileManager.default.copyItem(at: terminal.home, to: homeBefore)
            try FileManager.default.copyItem(at: vault, to: vaultBefore)
            let note = try contents(of: terminal.home)
            #expect(note.contains { $0.count > 0 })
            for word in ["ada@", "Lovelace", goodPassword] {
                #expect(!note.contains { $0.range(of: Data(word.utf8)) != nil })
                #expect(
                    !note.contains { $0.range(of: Data(Data(word.utf8).base64EncodedString().prefix(6).utf8)) != nil })
            }

            #expect(try await terminal.run(["sign-out"]).status == 0)
            // The note comes back: the keychain has nothing for it.
            try FileManager.default.removeItem(at: terminal.home)
            try FileManager.default.copyItem(at: homeBefore, to: terminal.home)
            #expect(try await terminal.run(["status"]).status == 1)
            // The keychain comes back, too: the session has ended.
            for (place, before) in [(terminal.home, homeBefore), (vault, vaultBefore)] {
                try FileManager.default.removeItem(at: place)
                try FileManager.default.copyItem(at: before, to: place)
            }
            #expect(try await terminal.run(["status"]).status == 1)
        }
    }

    private func contents(of folder: URL) throws -> [Data] {
        let found = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return (found?.compactMap { $0 as? URL } ?? []).filter { !$0.hasDirectoryPath }.compactMap {
            try? Data(contentsOf: $0)
        }
    }

    @Test func anotherFolder() async throws {
        try await withTerminal { terminal in
            let missing = try await terminal.run(["friends"])
            #expect(missing.status == 1 && missing.errors.contains("There are no accounts in"))
            #expect(!FileManager.default.fileExists(atPath: terminal.data.path))
            try await signUp(terminal)
            // In another folder somebody else is signed in, at the same time.
            let other = ["--data", terminal.home.appending(path: "other").path]
            _ = try await terminal.run(["sign-up", "bob@example.com", "Bob"] + other, input: goodPassword)
            #expect(try await terminal.run(["status"]).text.contains("ada@example.com"))
            #expect(try await terminal.run(["status"] + other).text.contains("bob@example.com"))
        }
    }

    /// U+009B begins a command to a terminal as "ESC [" does; U+202E turns the direction of what follows.
    @Test func controlCharacters() async throws {
        try await withTerminal { terminal in
            try await signUp(terminal)
            #expect(try await terminal.run(["add", "red\u{1B}[31m", "a@example.com"]).status == 1)
            #expect(try await terminal.run(["add", "Eve", "b\u{9B}31m@example.com"]).status == 1)
            #expect(printable("b\u{9B}31m") == "b\\u{9B}31m")
            _ = try await terminal.run(["add", "Eve\u{202E}moc", "eve@example.com"])
            let joined = "👩\u{200D}🚀"
            _ = try await terminal.run(["add", "Zed \(joined)", "zed@example.com"])
            #expect(
                try await terminal.run(["friends"]).text
                    == "Eve\\u{202E}moc\teve@example.com\nZed \(joined)\tzed@example.com\n")
            let json = try await terminal.run(["friends", "--json"])
            #expect(!json.text.unicodeScalars.contains { $0 == "\u{202E}" })
            let list = try JSONDecoder().decode([Listed].self, from: json.output)
            #expect(list.first == Listed(name: "Eve\u{202E}moc", address: "eve@example.com"))
        }
    }

    private struct Seeded: Decodable {
        let users, friends: Int
        let password: String
        let cheapPasswords: Bool
    }

    @Test func seed() async throws {
        try await withTerminal { terminal in
            let outcome = try await terminal.run([
                "seed", "--users", "12", "--friends", "5", "--cheap-passwords", "--json",
            ])
            #expect(outcome.errors == "")
            let seeded = try JSONDecoder().decode(Seeded.self, from: outcome.output)
            #expect(seeded.users == 12 && seeded.friends == 5 && seeded.cheapPasswords)
            #expect(try await terminal.run(["sign-in", "user11@example.com"], input: seeded.password).status == 0)
            let addresses = try await terminal.run(["friends"]).text.split(separator: "\n").compactMap {
                $0.split(separator: "\t").last
            }
            #expect(
                Set(addresses) == [
                    "user12@example.com", "user1@example.com", "user2@example.com", "user3@example.com",
                    "user4@example.com",
                ])
            #expect(try await terminal.run(["seed", "--users", "1", "--friends", "0"]).status == 1)
        }
    }
}
