import Foundation
import Glibc
import TestSupport
import Testing

/// What happens at a terminal.
@Suite struct PromptTests {
    @Test func secretIsTypedTwiceWithoutEcho() throws {
        let workplace = try Workplace()
        let terminal = try Pseudoterminal(workplace, ["keychain", "set", "mail", "alice"])
        try terminal.expect("Secret: ")
        #expect(!terminal.isEchoing)
        terminal.type("hunter2\n")
        try terminal.expect("Secret again: ")
        #expect(!terminal.isEchoing)
        let arguments = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(terminal.process)/cmdline"))
        #expect(!String(decoding: arguments, as: UTF8.self).contains("hunter2"))
        terminal.type("hunter2\n")
        #expect(try terminal.finish() == 0)
        #expect(terminal.isEchoing)
        #expect(!terminal.screen.contains("hunter2"))
        #expect(try workplace.run(["keychain", "get", "mail", "alice"]).text == "hunter2")
    }

    /// Who has just typed the passcode to unlock the vault has shown to be there.
    @Test func thePasscodeIsTypedOnce() throws {
        let workplace = try Workplace()
        let made = try workplace.shell(
            """
            printf right > passcode
            keychain passcode set --new-passcode-fd 3 --memory 8 --passes 1 3< passcode
            printf secret | keychain set bank alice --require presence --passcode-fd 3 3< passcode
            """)
        try #require(made.status == 0, "\(made.errors)")
        let terminal = try Pseudoterminal(workplace, ["keychain", "get", "bank", "alice"])
        try terminal.expect("The vault is locked.")
        terminal.type("right\n")
        #expect(try terminal.finish() == 0)
        #expect(terminal.screen.components(separatedBy: "asscode").count == 2, "\(terminal.screen)")
        #expect(terminal.screen.hasSuffix("secret\r\n"), "\(terminal.screen)")
    }

    /// Where the vault is unlocked, the question says which item it is for.
    @Test func theQuestionNamesTheItem() throws {
        let workplace = try Workplace()
        let terminal = try Pseudoterminal(
            workplace,
            [
                "/bin/sh", "-c",
                """
                cd "$HOME"; printf right > passcode; unset KEYCHAIN_HOME; export KEYCHAIN_SOCKET="$HOME/run/socket"
                keychaind --home "$HOME/served" --socket "$KEYCHAIN_SOCKET" --entitlements "$HOME/none" \
                    --no-lock-signals --log error & daemon=$!
                until keychain list >/dev/null 2>&1; do kill -0 $daemon || exit 99; sleep 0.1; done
                keychain passcode set --new-passcode-fd 3 --memory 8 --passes 1 3< passcode
                printf secret | keychain set bank alice --require presence
                keychain get bank alice; status=$?
                kill $daemon; wait $daemon; exit $status
                """,
            ])
        try terminal.expect("keychain: use the password 'alice' of 'bank'")
        try terminal.expect("asscode")
        terminal.type("right\n")
        #expect(try terminal.finish() == 0)
        #expect(terminal.screen.contains("secret"), "\(terminal.screen)")
    }

    @Test func differentSecretsChangeNothing() throws {
        let workplace = try Workplace()
        let terminal = try Pseudoterminal(workplace, ["keychain", "set", "mail", "alice"])
        try terminal.expect("Secret: ")
        terminal.type("hunter2\n")
        try terminal.expect("Secret again: ")
        terminal.type("hunter3\n")
        #expect(try terminal.finish() == 1)
        #expect(
            terminal.screen.contains(
                "\u{1B}[1;31mkeychain:\u{1B}[0m the two secrets differ: nothing was changed, try again"))
        #expect(try workplace.run(["keychain", "get", "mail", "alice"]).status == 44)
    }

    @Test(arguments: [("\u{03}", 128 + SIGINT), ("\u{1C}", 128 + SIGQUIT)])
    func interruptedPromptPutsTheEchoBack(_ key: String, _ status: Int32) throws {
        let workplace = try Workplace()
        let terminal = try Pseudoterminal(workplace, ["keychain", "set", "mail", "alice"])
        try terminal.expect("Secret: ")
        terminal.type("hunt" + key)
        #expect(try terminal.finish() == status)
        #expect(terminal.isEchoing)
        #expect(try workplace.run(["keychain", "list"]).text == "")
    }

    @Test func terminationPutsTheEchoBack() throws {
        let workplace = try Workplace()
        let terminal = try Pseudoterminal(workplace, ["keychain", "set", "mail", "alice"])
        try terminal.expect("Secret: ")
        kill(terminal.process, SIGTERM)
        #expect(try terminal.finish() == 128 + SIGTERM)
        #expect(terminal.isEchoing)
    }

    @Test func suspendedPromptAsksAgain() throws {
        let workplace = try Workplace()
        // Job control needs a shell: the terminal's own session leader cannot be suspended from it.
        let terminal = try Pseudoterminal(workplace, ["/bin/sh", "-mc", "keychain set mail alice; fg; true"])
        try terminal.expect("Secret: ")
        #expect(!terminal.isEchoing)
        terminal.type("\u{1A}")
        try terminal.expect("Secret: ")
        #expect(!terminal.isEchoing)
        terminal.type("hunter2\n")
        try terminal.expect("Secret again: ")
        terminal.type("hunter2\n")
        #expect(try terminal.finish() == 0)
        #expect(try workplace.run(["keychain", "get", "mail", "alice"]).text == "hunter2")
    }

    @Test func endOfInputCancels() throws {
        let workplace = try Workplace()
        let terminal = try Pseudoterminal(workplace, ["keychain", "set", "mail", "alice"])
        try terminal.expect("Secret: ")
        terminal.type("\u{04}")
        #expect(try terminal.finish() == 1)
        #expect(terminal.screen.contains("canceled at the prompt: nothing was changed"))
        #expect(terminal.isEchoing)
    }

    /// The kernel cuts a longer line off without a word.
    @Test func secretLongerThanATerminalLineIsRefused() throws {
        let workplace = try Workplace()
        let terminal = try Pseudoterminal(workplace, ["keychain", "set", "mail", "alice"])
        try terminal.expect("Secret: ")
        terminal.type(String(repeating: "x", count: 5_000) + "\n")
        #expect(try terminal.finish() == 1)
        #expect(terminal.screen.contains("give a longer secret on standard input"))
    }

    @Test func standardInputCountsAtATerminalToo() throws {
        let workplace = try Workplace()
        let path = workplace.path + "/secret"
        try Data("hunter2\n".utf8).write(to: URL(fileURLWithPath: path))
        let terminal = try Pseudoterminal(workplace, ["keychain", "set", "mail", "alice"], redirections: [0: path])
        #expect(try terminal.finish() == 0)
        #expect(terminal.screen == "")
        #expect(try workplace.run(["keychain", "get", "mail", "alice"]).text == "hunter2")
    }

    @Test func secretOnATerminalEndsItsLine() throws {
        let workplace = try Workplace()
        _ = try workplace.run(["keychain", "set", "mail", "alice"], input: Data("hunter2".utf8))
        let shown = try Pseudoterminal(workplace, ["keychain", "get", "mail", "alice"])
        #expect(try shown.finish() == 0)
        #expect(shown.screen == "hunter2\r\n")
        let bare = try Pseudoterminal(workplace, ["keychain", "get", "mail", "alice", "-n"])
        #expect(try bare.finish() == 0)
        #expect(bare.screen == "hunter2")
    }

    @Test func listIsAlignedOnATerminal() throws {
        let workplace = try Workplace()
        for service in ["mail", "a-longer-service"] {
            _ = try workplace.run(["keychain", "set", service, "alice"], input: Data("x".utf8))
        }
        let terminal = try Pseudoterminal(workplace, ["keychain", "list"])
        #expect(try terminal.finish() == 0)
        #expect(
            terminal.screen == "\u{1B}[1mservice           account  group\u{1B}[0m\r\n"
                + "a-longer-service  alice    keychain\r\n" + "mail              alice    keychain\r\n")
    }

    @Test(arguments: [("erase\n", Int32(0), ""), ("yes\n", 1, "hunter2"), ("\n", 1, "hunter2")])
    func eraseAsks(_ answer: String, _ status: Int32, _ left: String) throws {
        let workplace = try Workplace()
        _ = try workplace.run(["keychain", "set", "mail", "alice"], input: Data("hunter2".utf8))
        let terminal = try Pseudoterminal(workplace, ["keychain", "erase"])
        try terminal.expect("Type 'erase' to go on: ")
        #expect(terminal.isEchoing)
        terminal.type(answer)
        #expect(try terminal.finish() == status)
        #expect(try workplace.run(["keychain", "get", "mail", "alice"]).text == left)
    }

    @Test(arguments: [("y\n", Int32(0), "keychain\n"), ("yes\n", 0, "keychain\n"), ("n\n", 1, ""), ("\n", 1, "")])
    func integrateAsks(_ answer: String, _ status: Int32, _ helper: String) throws {
        let workplace = try Workplace()
        let terminal = try Pseudoterminal(workplace, ["keychain", "integrate", "git"])
        try terminal.expect("\(workplace.path)/.gitconfig gets\r\n    [credential]\r\n")
        try terminal.expect("Change the file? [y/N] ")
        terminal.type(answer)
        #expect(try terminal.finish() == status)
        #expect(try workplace.shell("git config --global credential.helper").text == helper)
    }

    @Test func securityAsksUntilBothAreTheSame() throws {
        let workplace = try Workplace()
        let terminal = try Pseudoterminal(
            workplace, ["security", "add-generic-password", "-s", "mail", "-a", "alice", "-w"])
        for (first, second) in [("one", "two"), ("three", "three")] {
            try terminal.expect("password data for new item: ")
            terminal.type(first + "\n")
            try terminal.expect("retype password for new item: ")
            terminal.type(second + "\n")
        }
        #expect(try terminal.finish() == 0)
        #expect(terminal.screen.contains("passwords don't match"))
        #expect(!terminal.screen.contains("three"))
        #expect(try workplace.run(["keychain", "get", "mail", "alice"]).text == "three")
    }

    @Test func aKeychainIsMadeAndUnlockedWithPasswordsThatAreTyped() throws {
        let workplace = try Workplace()
        func ask(_ arguments: [String], _ answers: [(question: String, answer: String)]) throws -> Int32 {
            let terminal = try Pseudoterminal(workplace, ["security"] + arguments)
            for (question, answer) in answers {
                try terminal.expect(question)
                terminal.type(answer + "\n")
            }
            let status = try terminal.finish()
            #expect(!terminal.screen.contains("secret"))
            return status
        }
        let new = [("password for new keychain: ", "secret"), ("retype password for new keychain: ", "secret")]
        #expect(try ask(["create-keychain", "build.keychain"], new) == 0)
        #expect(try workplace.run(["security", "lock-keychain", "build.keychain"]).status == 0)
        #expect(try ask(["unlock-keychain", "build.keychain"], [("build.keychain-db: ", "wrong")]) == 51)
        #expect(try ask(["unlock-keychain", "build.keychain"], [("build.keychain-db: ", "secret")]) == 0)
        let changes = [("Old Password: ", "secret"), ("New Password: ", "other"), ("Retype New Password: ", "other")]
        #expect(try ask(["set-keychain-password", "build.keychain"], changes) == 0)
        #expect(try workplace.run(["security", "unlock-keychain", "-p", "other", "build.keychain"]).status == 0)
        // What a locked keychain has is shown once its password was typed.
        #expect(try workplace.run(["security", "lock-keychain", "build.keychain"]).status == 0)
        let adding = ["add-generic-password", "-s", "svc", "-a", "alice", "-w", "inside", "build.keychain"]
        #expect(try ask(adding, [("Passcode: ", "other")]) == 0)
        #expect(try workplace.run(["security", "delete-keychain", "build.keychain"]).status == 0)
    }
}
