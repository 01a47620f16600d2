import Foundation
import FriendvatarsKit
import Glibc
import Testing

/// What somebody finds who has the disk.
@Suite(.timeLimit(.minutes(5)))
struct DiskTests {
    /// Words of the visit that must be nowhere: as text, and in the forms in which they could be stored.
    private static func forms(_ word: String) -> [Data] {
        let bytes = Data(word.utf8)
        return [
            bytes, Data(bytes.base64EncodedString().dropLast(4).utf8),
            Data(bytes.map { String(format: "%02x", $0) }.joined().utf8),
            word.data(using: .utf16LittleEndian) ?? bytes, word.data(using: .utf16BigEndian) ?? bytes,
            Data(word.uppercased().utf8),
        ]
    }

    private static func places(of words: [String], in folder: URL) throws -> [String] {
        var found: [String] = []
        for file in try FileManager.default.subpathsOfDirectory(atPath: folder.path(percentEncoded: false)) {
            let bytes = (try? Data(contentsOf: folder.appending(path: file))) ?? Data()
            for word in words where forms(word).contains(where: { bytes.range(of: $0) != nil || file.contains(word) }) {
                found.append("\(word) in \(file)")
            }
        }
        return found
    }

    @Test func nothingIsReadable() async throws {
        let stub = try await AvatarStub()
        let zoe = try #require(EmailAddress("zoe.canary@example.com"))
        for form in AvatarHashForm.allCases { stub.setPicture(Pictures.red, for: zoe.avatarHash(form)) }
        try await withServer(avatars: stub.address) { server in
            let ada = WebClient(server)
            var tokens: [String] = []
            #expect(try await ada.signUp("ada.canary@example.com", name: "Ada Canary").status == 303)
            tokens.append(try #require(await ada.cookies["__Host-session"]))
            _ = try await ada.get("/friends")
            #expect(try await ada.post("/friends", ["name": "Zoe Canary", "email": zoe.text]).status == 303)
            let page = try await ada.get("/friends").text
            let id = try #require(page.firstMatch(of: /src="(\/avatars\/[0-9A-F-]{36})"/)?.output.1)
            #expect(try await ada.get(String(id)).bytes == Pictures.red)
            _ = try await ada.signIn("ada.canary@example.com", password: "mistaken canary")
            _ = try await ada.post("/sign-out", [:])
            #expect(try await ada.signIn("ada.canary@example.com").status == 303)
            tokens.append(try #require(await ada.cookies["__Host-session"]))
            tokens.append(try #require(await ada.cookies["__Host-visitor"]))
            let words =
                [
                    "ada.canary@example.com", "zoe.canary@example.com", "ada.canary", "Ada Canary", "Zoe Canary",
                    goodPassword,
                    "mistaken canary", zoe.avatarHash(.sha256), zoe.avatarHash(.md5), "$argon2id$",
                ] + tokens
            // While it runs, and when it has ended; the log as well.
            #expect(try Self.places(of: words, in: server.folder) == [])
            for word in words { #expect(!server.output.contains(word)) }
            #expect(await server.stop() == 0)
            #expect(try Self.places(of: words, in: server.folder) == [])
            // The search finds what is there.
            try Data("x ada.canary@example.com y".utf8).write(to: server.folder.appending(path: "plain"))
            #expect(try Self.places(of: words, in: server.folder).count == 2)
            // Nobody else may look.
            let mode = try FileManager.default.attributesOfItem(atPath: server.folder.path(percentEncoded: false))[
                .posixPermissions]
            #expect(mode as? Int == 0o700)
        }
    }

    /// Whatever was answered is there after the program was killed.
    @Test func killed() async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data")
        var friends: [String] = []
        for round in 0..<5 {
            let server = try await ServerUnderTest(in: data, ["--plain"])
            let ada = WebClient(server)
            if round == 0 {
                _ = try await ada.signUp("ada@example.com")
            } else {
                #expect(try await ada.signIn("ada@example.com").status == 303)
            }
            let page = try await ada.get("/friends").text
            for name in friends { #expect(page.contains(name), "\(name) is lost") }
            // Killed in the middle of a request or between two, after so many.
            let wanted = Int.random(in: 1...40)
            var killer: Task<Void, any Error>?
            for number in 0..<1_000 {
                let name = "Friend \(round)-\(number)."
                let fields = ["name": name, "email": "friend\(round)-\(number)@example.com"]
                if number == wanted {
                    killer = Task {
                        try await Task.sleep(for: .microseconds(Int.random(in: 0...20_000)))
                        await server.stop(SIGKILL)
                    }
                }
                guard let answer = try? await ada.post("/friends", fields), answer.status == 303 else { break }
                friends.append(name)
            }
            if let killer { try await killer.value } else { await server.stop(SIGKILL) }
        }
        #expect(!friends.isEmpty)
    }
}
