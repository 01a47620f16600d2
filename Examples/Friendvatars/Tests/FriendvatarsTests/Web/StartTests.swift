import Foundation
import Glibc
import Testing

/// What the server says when it cannot serve, and what it keeps from one start to the next.
@Suite(.timeLimit(.minutes(10)))
struct StartTests {
    /// Says what is wrong in a sentence, and nothing else: no dump, no domain of errors.
    private func expectFailure(
        _ arguments: [String], environment: [String: String] = [:], says text: String,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let (status, said) = try await ServerUnderTest.failing(arguments, environment: environment)
        #expect(status == 1 || status == 64, "\(said)", sourceLocation: location)
        #expect(said.contains(text), "\(said)", sourceLocation: location)
        for mark in ["Fatal error", "Domain", "Thread", "Optional("] {
            #expect(!said.contains(mark), "\(said)", sourceLocation: location)
        }
    }

    @Test func senselessOptions() async throws {
        let folder = try TemporaryFolder()
        let data = ["--data", folder.url.appending(path: "data").path(percentEncoded: false), "--avatars", "none"]
        for avatars in ["foo", "https://x.example/avatar", "ftp://x.example/{hash}"] {
            try await expectFailure(data.dropLast() + [avatars], says: "is no address of avatars")
        }
        for port in ["70000", "-1"] {
            try await expectFailure(data + ["--port=\(port)"], says: "The port is a number from 0 to 65535")
        }
        try await expectFailure(data + ["--patience", "0"], says: "The patience is a number from 1 to 3600")
        try await expectFailure(data, environment: ["FRIENDVATARS_PORT": "abc"], says: "not abc")
        try await expectFailure(data + ["--hash", "crc"], says: "There is no hash crc")
        try await expectFailure(data + ["--behind-proxy"], says: "--plain")
        try await expectFailure(data + ["--host", "192.0.2.1"], says: "192.0.2.1 is no address of this machine")
    }

    @Test func foldersAndPortsInUse() async throws {
        try await withServer(options: ["--plain"]) { server in
            let path = server.folder.path(percentEncoded: false)
            try await expectFailure(["--data", path, "--port", "0"], says: "is served by another process")
            let other = server.folder.deletingLastPathComponent().appending(path: "other").path(percentEncoded: false)
            try await expectFailure(
                ["--data", other, "--port", "\(server.port)"], says: "Port \(server.port) is in use")
            try Data().write(to: URL(filePath: other + "-file"))
            try await expectFailure(["--data", other + "-file", "--port", "0"], says: "choose another one with --data")
            try await expectFailure(["--data", "/proc/nothing", "--port", "0"], says: "/proc/nothing")
            #expect(try await WebClient(server).get("/health").status == 200)
        }
    }

    /// What belongs together and is not there, or not of the same time, is never made anew.
    @Test func lostParts() async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data")
        let server = try await ServerUnderTest(in: data, ["--plain"])
        #expect(try await WebClient(server).signUp("ada@example.com").status == 303)
        #expect(await server.stop() == 0)
        let arguments = ["--data", data.path(percentEncoded: false), "--plain", "--port", "0", "--avatars", "none"]
        for (lost, says) in [
            ("friends.db", "friends.db is missing, and the vault has its keys"), ("vault", "key"),
            ("vault/device-secret", "is not to be had"),
        ] {
            let (file, kept) = (data.appending(path: lost), folder.url.appending(path: "kept"))
            try FileManager.default.moveItem(at: file, to: kept)
            try await expectFailure(arguments, says: says)
            try? FileManager.default.removeItem(at: file)
            try FileManager.default.moveItem(at: kept, to: file)
        }
        // Another vault, which knows nothing of this database.
        let other = try await ServerUnderTest(in: folder.url.appending(path: "other"), ["--plain"])
        #expect(await other.stop() == 0)
        let (own, foreign) = (data.appending(path: "vault"), folder.url.appending(path: "other/vault"))
        try FileManager.default.moveItem(at: own, to: folder.url.appending(path: "kept"))
        try FileManager.default.copyItem(at: foreign, to: own)
        try await expectFailure(arguments, says: "there is no key for")
        try FileManager.default.removeItem(at: own)
        try FileManager.default.moveItem(at: folder.url.appending(path: "kept"), to: own)
        let again = try await ServerUnderTest(in: data, ["--plain"])
        #expect(try await WebClient(again).signIn("ada@example.com").status == 303)
        await again.stop()
    }

    /// A vault that lost the end of its log knows the database no more. It says so, and makes nobody's address free.
    @Test func vaultOfBefore() async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data")
        let server = try await ServerUnderTest(in: data, ["--plain"])
        #expect(try await WebClient(server).signUp("ada@example.com").status == 303)
        #expect(await server.stop() == 0)
        let files = try FileManager.default.contentsOfDirectory(atPath: data.appending(path: "vault").path)
        let name = try #require(files.first { $0.hasPrefix("items-") && $0.hasSuffix("-wal") })
        let log = data.appending(path: "vault/" + name)
        let whole = try Data(contentsOf: log)
        // A header of 32 bytes, then frames of a page and 24 bytes (SQLite's "WAL-mode File Format").
        let frames = (whole.count - 32) / 4_120
        try #require(frames > 10)
        var answers: Set<String> = []
        for kept in stride(from: 0, through: frames, by: max(1, frames / 12)) {
            let copy = folder.url.appending(path: "copy")
            try FileManager.default.copyItem(at: data, to: copy)
            defer { try? FileManager.default.removeItem(at: copy) }
            try whole.prefix(32 + kept * 4_120).write(to: copy.appending(path: "vault/" + name))
            guard let restarted = try? await ServerUnderTest(in: copy, ["--plain"]) else {
                answers.insert("refused")
                continue
            }
            let ada = WebClient(restarted)
            // Not wrong: that would say that there is no such account.
            let status = try await ada.signIn("ada@example.com").status
            #expect(status == 303 || status == 500, "\(kept) of \(frames)")
            if status != 303 { #expect(try await ada.signUp("ada@example.com").status == 422) }
            answers.insert("\(status)")
            await restarted.stop()
        }
        #expect(answers.contains("refused"))
    }

    /// Browsers warn once: the certificate stays.
    @Test func sameCertificate() async throws {
        let folder = try TemporaryFolder()
        var seen: [String] = []
        for name in ["localhost", "localhost", "friends.example"] {
            let server = try await ServerUnderTest(in: folder.url.appending(path: "data"), ["--name", name])
            let line = server.output.split(separator: "\n").first { $0.contains("SHA-256") } ?? ""
            seen.append("\(line) \(server.keyPin)")
            await server.stop()
        }
        #expect(seen[0] == seen[1] && seen[0] != seen[2])
        #expect(Set(seen.compactMap { $0.split(separator: " ").last }).count == 1)
    }

    /// No file gets the number of a standard descriptor that was closed.
    @Test func closedDescriptors() async throws {
        let folder = try TemporaryFolder()
        let data = folder.url.appending(path: "data").path(percentEncoded: false)
        let process = try ProgramStart.start(
            "friendvatars", ["--data", data, "--port", "0", "--plain", "--avatars", "none"],
            environment: ["PATH": "/usr/bin:/bin", "HOME": data]
        ) { actions in
            for descriptor in Int32(0)...2 { posix_spawn_file_actions_addclose(&actions, descriptor) }
        }
        let database = data + "/friends.db"
        try await waitUntil("there is no \(database)") { FileManager.default.fileExists(atPath: database) }
        for descriptor in 0...2 {
            let target = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\(descriptor)")
            #expect(target == "/dev/null")
        }
        kill(process, SIGKILL)
        _ = await onThread { TerminalProgram.wait(for: process) }
    }
}
