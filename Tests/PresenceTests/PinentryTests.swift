import Access
import Foundation
import Glibc
import KeychainModel
import Testing

@testable import Presence

/// Against the real pinentry-tty.
@Suite struct PinentryTests {
    private let terminal: Pty
    private let prompt: PinentryPrompt
    private let question = PasscodeQuestion(purpose: .presence, reason: "100 % of “mail”\nwants the code")

    init() throws {
        guard access("/usr/bin/pinentry-tty", X_OK) == 0 else { throw MissingPart("pinentry-tty") }
        terminal = try Pty()
        prompt = PinentryPrompt(program: "/usr/bin/pinentry-tty", terminal: terminal.path)
    }

    /// Asks on another thread, so that the test can type.
    private func ask(
        _ question: PasscodeQuestion, timeout: Duration = .seconds(20), _ cancellation: Cancellation = .init()
    ) -> Handoff<Answer> {
        let answer = Handoff<Answer>()
        Thread.detachNewThread { [prompt] in
            answer.put(Answer(prompt.ask(question, until: .now + timeout, cancellation: cancellation)))
        }
        return answer
    }

    enum Answer: Equatable {
        case passcode(String), canceled, timedOut, unavailable(String)

        init(_ answer: PasscodeAnswer) {
            self =
                switch answer {
                case .passcode(let passcode):
                    .passcode(passcode.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
                case .canceled: .canceled
                case .timedOut: .timedOut
                case .unavailable(let remedy): .unavailable(remedy)
                }
        }
    }

    @Test func passcodeIsTyped() throws {
        let answer = ask(question)
        try terminal.expect("wants the code")
        try terminal.expect("Passcode:")
        terminal.type("12%25 ä\\ 34\n")
        #expect(answer.wait(until: .now + .seconds(20)) == .passcode("12%25 ä\\ 34"))
        #expect(terminal.isEchoing)
    }

    @Test func complaintIsShown() throws {
        var question = question
        question.complaint = "The passcode is wrong."
        let answer = ask(question)
        try terminal.expect("The passcode is wrong.")
        terminal.type("1234\n")
        #expect(answer.wait(until: .now + .seconds(20)) == .passcode("1234"))
    }

    @Test func newPasscodeIsTypedTwice() throws {
        let answer = ask(PasscodeQuestion(purpose: .new, reason: "Choose"))
        for (first, second) in [("one", "two"), ("three", "three")] {
            try terminal.expect("New passcode:")
            terminal.type(first + "\n")
            try terminal.expect("Again:")
            terminal.type(second + "\n")
        }
        #expect(answer.wait(until: .now + .seconds(20)) == .passcode("three"))
    }

    @Test func nobodyAnswers() throws {
        let answer = ask(question, timeout: .milliseconds(300))
        try terminal.expect("Passcode:")
        #expect(answer.wait(until: .now + .seconds(10)) == .timedOut)
        #expect(terminal.isEchoing)
    }

    @Test func questionIsTakenBack() throws {
        let cancellation = Cancellation()
        let answer = ask(question, cancellation)
        try terminal.expect("Passcode:")
        cancellation.cancel()
        #expect(answer.wait(until: .now + .seconds(10)) == .canceled)
        #expect(terminal.isEchoing)
    }

    @Test func messageIsShownUntilItIsTakenBackOrDismissed() throws {
        for isDismissed in [false, true] {
            let cancellation = Cancellation()
            let gaveUp = Handoff<Bool>()
            Thread.detachNewThread { [prompt] in
                gaveUp.put(prompt.hold("Touch the reader", until: .now + .seconds(20), cancellation: cancellation))
            }
            try terminal.expect("Touch the reader")
            if isDismissed { terminal.type("\n") } else { cancellation.cancel() }
            #expect(gaveUp.wait(until: .now + .seconds(10)) == isDismissed)
            #expect(terminal.isEchoing)
        }
    }

    /// Programs that are no pinentry, or do not behave like one.
    @Test(arguments: [
        ("exit 0", "ended without an answer"), ("head -c 10000 /dev/zero", "line too long"),
        ("echo ERR 83886340 no; cat", "error 260"), ("echo OK; read x; exit 1", "does not work"),
    ])
    func brokenPinentryIsSaid(_ script: String, _ reason: String) throws {
        let path = FileManager.default.temporaryDirectory.path + "/pinentry-\(UUID().uuidString)"
        try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(fileURLWithPath: path))
        chmod(path, 0o700)
        defer { unlink(path) }
        let prompt = PinentryPrompt(program: path)
        #expect(prompt.isAvailable)
        guard case .unavailable(let said) = Answer(prompt.ask(question, until: .now + .seconds(10))) else {
            Issue.record("a broken pinentry gave an answer")
            return
        }
        #expect(said.contains(reason))
    }

    @Test func silentPinentryIsEnded() throws {
        let path = FileManager.default.temporaryDirectory.path + "/pinentry-\(UUID().uuidString)"
        try Data("#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 0.05; done\n".utf8).write(to: URL(fileURLWithPath: path))
        chmod(path, 0o700)
        defer { unlink(path) }
        let start = ContinuousClock.now
        let answer = Answer(PinentryPrompt(program: path).ask(question, until: .now + .milliseconds(100)))
        #expect(answer == .timedOut)
        #expect(ContinuousClock.now - start < .seconds(5))
    }

    @Test func missingPinentryIsNotAvailable() {
        let prompt = PinentryPrompt(program: "/nonexistent/pinentry")
        #expect(!prompt.isAvailable)
    }
}
