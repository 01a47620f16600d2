import Foundation
import Glibc
import Testing

/// The terminal client as a person uses it, at a terminal, and beside the server.
@Suite(.timeLimit(.minutes(10)))
struct TerminalPersonTests {
    private func withTerminal(_ body: (TerminalProgram) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let terminal = try TerminalProgram(
            data: folder.url.appending(path: "data"), home: folder.url.appending(path: "home"))
        let outcome = try await terminal.run(["sign-up", "ada@example.com", "Ada Lovelace"], input: goodPassword)
        try #require(outcome.status == 0, "\(outcome.errors)")
        try await body(terminal)
    }

    @Test func passwordsAreNotShown() async throws {
        try await withTerminal { terminal in
            let signIn = try PseudoTerminal(terminal, ["sign-in", "ada@example.com"])
            #expect(await signIn.shown(until: "Password: ").contains("Password: "))
            #expect(!signIn.isEchoing)
            signIn.type(goodPassword + "\n")
            let shown = await signIn.shown()
            #expect(await signIn.end() == 0)
            #expect(shown.contains("You are signed in as Ada Lovelace.") && !shown.contains("otter"))
            #expect(signIn.isEchoing)

            // A new one is asked for twice.
            for (second, status) in [("violet otter climbed", Int32(1)), (goodPassword, 0)] {
                let signUp = try PseudoTerminal(terminal, ["sign-up", "bob@example.com", "Bob"])
                _ = await signUp.shown(until: "Password: ")
                signUp.type(goodPassword + "\n")
                _ = await signUp.shown(until: "Once more: ")
                signUp.type(second + "\n")
                let shown = await signUp.shown()
                #expect(await signUp.end() == status, "\(shown)")
                #expect(!shown.contains("otter") && signUp.isEchoing)
            }
        }
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func aSignalPutsTheTerminalBack(_ signal: Int32) async throws {
        try await withTerminal { terminal in
            let signIn = try PseudoTerminal(terminal, ["sign-in", "ada@example.com"])
            _ = await signIn.shown(until: "Password: ")
            #expect(!signIn.isEchoing)
            kill(signIn.process, signal)
            #expect(await signIn.end() == 128 + signal)
            #expect(signIn.isEchoing)
        }
    }

    @Test func colors() async throws {
        try await withTerminal { terminal in
            _ = try await terminal.run(["add", "Zoe", "zoe@example.com"])
            func shown(_ environment: [String: String]) async throws -> String {
                let friends = try PseudoTerminal(terminal, ["friends"], environment: environment)
                let shown = await friends.shown()
                #expect(await friends.end() == 0)
                return shown
            }
            let full = try await shown(["COLORTERM": "truecolor"])
            // The color of this address, as in the picture: hsl(247 60% 40%).
            #expect(full.contains("\u{1B}[38;2;55;41;163m") && full.contains("▀"))
            #expect(full.contains("Zoe"))
            #expect(try await shown([:]).contains("\u{1B}[38;5;61m"))
            for plain in [["NO_COLOR": "1"], ["TERM": "dumb"]] {
                #expect(try await shown(plain) == "Zoe\tzoe@example.com\r\n")
            }
        }
    }

    @Test func besideTheServer() async throws {
        try await withServer { server in
            let home = try TemporaryFolder()
            let terminal = try TerminalProgram(data: server.folder, home: home.url)
            let web = WebClient(server)
            #expect(try await web.signUp("ada@example.com").status == 303)
            let signIn = try await terminal.run(["sign-in", "ada@example.com"], input: goodPassword)
            #expect(signIn.status == 0, "\(signIn.errors)")
            _ = try await web.get("/friends")

            // Both write at the same time.
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for number in 0..<8 {
                        let added = try await terminal.run([
                            "add", "Terminal \(number)", "terminal\(number)@example.com",
                        ])
                        #expect(added.status == 0, "\(added.errors)")
                    }
                }
                group.addTask {
                    for number in 0..<40 {
                        let added = try await web.post(
                            "/friends", ["name": "Web \(number)", "email": "web\(number)@example.com"])
                        #expect(added.status == 303, "\(server.output)")
                    }
                }
                try await group.waitForAll()
            }
            let page = try await web.get("/friends").text
            let list = try await terminal.run(["friends"]).text
            for name in (0..<8).map({ "Terminal \($0)" }) + (0..<40).map({ "Web \($0)" }) {
                #expect(page.contains(name) && list.contains(name + "\t"), "\(name)")
            }

            // What signs up here signs in there.
            _ = try await terminal.run(["sign-up", "bob@example.com", "Bob"], input: goodPassword)
            let other = WebClient(server)
            #expect(try await other.signIn("bob@example.com").status == 303)
            // An account that goes there is gone here.
            _ = try await other.get("/account")
            #expect(try await other.post("/account/delete", ["password": goodPassword]).status == 303)
            let gone = try await terminal.run(["friends"])
            #expect(gone.status == 1 && gone.errors.contains("Nobody is signed in"), "\(gone)")
            #expect(try await web.get("/friends").status == 200)
        }
    }
}
