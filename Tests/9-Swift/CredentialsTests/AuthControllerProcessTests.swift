import Foundation
import TestSupport
import Testing

/// Several processes of an app, with one vault and one file of preferences.
@Suite(.timeLimit(.minutes(60))) struct AuthControllerProcessTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func worker(_ arguments: String...) throws -> Worker {
        let binary = URL(filePath: Worker.executable).deletingLastPathComponent()
            .appending(path: "CredentialsWorker").path
        return try Worker(
            [
                "KEYCHAIN_HOME=\(folder.path(of: "vault"))", "KEYCHAIN_ACCESS_GROUPS=TEAM.app",
                "XDG_CONFIG_HOME=\(folder.path(of: "config"))", binary, arguments[0], folder.path(of: "data"),
            ] + arguments.dropFirst(), command: "env")
    }

    /// However they come and go, there is never more than one person's hash, and in the end that of who is signed in.
    @Test func theyTakeTurns() throws {
        let count = TestScale.count(60, soak: 2_000)
        let watching = try worker("watch")
        #expect(watching.readLine() == "begins")
        let workers = try [worker("interleave", "\(count)"), worker("interleave", "\(count)")]
        for worker in workers { #expect(worker.readLine() == "begins") }
        for worker in workers { worker.cue() }
        for worker in workers { #expect(worker.remainingLines() == ["done"]) }
        watching.finishInput()
        #expect(["0", "1"].contains(watching.readLine()))
        let end = try #require(try worker("show").readLine()).split(separator: " ")
        #expect(end == ["nobody", "0"] || (end.count == 3 && end[0] == end[1] && end[2] == "0"), "\(end)")
    }

    /// What cannot be written is refused, and everything stays as it was: the person, the hash, and what else is in the
    /// preferences.
    @Test func aFullDisk() throws {
        let lines = try worker("fill").remainingLines()
        #expect(lines == ["ada ada 0", "bob is refused", "ada stays", "ada ada 0", "bob bob 0", "\(1 << 20)"])
    }
}
