import Access
import Bytes
import Foundation
import Glibc
import KeychainModel
import TestSupport
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
        _ question: PasscodeQuestion, timeout: Duration = Patience.duration, _ cancellation: Cancellation = .init()
    ) -> Handoff<Answer> {
        let answer = Handoff<Answer>()
        Thread.detachNewThread { [prompt] in
            answer.put(Answer(prompt.ask(question, until: .now + timeout, cancellation: cancellation)))
        }
        return answer
    }

    enum Answer: Equatable {
        case passcode(String)
        case canceled, timedOut
        case unavailable(String)

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
        try terminal.typeUnseen("12%25 ä\\ 34\n")
        #expect(answer.wait(until: .patience) == .passcode("12%25 ä\\ 34"))
        #expect(terminal.isEchoing)
    }

    @Test func complaintIsShown() throws {
        var question = question
        question.complaint = "The passcode is wrong."
        let answer = ask(question)
        try terminal.expect("The passcode is wrong.")
        try terminal.typeUnseen("1234\n")
        #expect(answer.wait(until: .patience) == .passcode("1234"))
    }

    @Test func thePasscodeIsCalledWhatTheProgramCallsIt() throws {
        var question = question
        question.titles = PromptTitles(cancel: "Not now", passcode: "The\u{1B}[2J PIN")
        let answer = ask(question)
        try terminal.expect("The [2J PIN:")
        try terminal.typeUnseen("1234\n")
        #expect(answer.wait(until: .patience) == .passcode("1234"))
    }

    /// What the dialogs with buttons are told.
    @Test func theTitlesAreSent() throws {
        let path = FileManager.default.temporaryDirectory.path + "/pinentry-\(UUID().uuidString)"
        let script = """
            echo OK
            while read -r line; do
                printf '%s\\n' "$line" >> \(path).log
                if [ "$line" = GETPIN ]; then echo D 1234; fi
                echo OK
            done
            """
        try writeScript(script, to: path)
        defer { for file in [path, path + ".log"] { unlink(file) } }
        func said(_ titles: PromptTitles) throws -> [Substring] {
            unlink(path + ".log")
            let question = PasscodeQuestion(purpose: .presence, reason: "to pay", titles: titles)
            let answer = PinentryPrompt(program: path).ask(question, until: .patience)
            #expect(Answer(answer) == .passcode("1234"))
            return try String(contentsOfFile: path + ".log", encoding: .utf8).split(separator: "\n")
        }
        let titled = try said(PromptTitles(cancel: "Not_now, 100 %\nthanks", passcode: "PIN"))
        #expect(titled.contains("SETCANCEL Not__now, 100 %25 thanks"))
        #expect(titled.contains("SETPROMPT PIN:"))
        for titles in [PromptTitles(), PromptTitles(cancel: "", passcode: " ")] {
            let plain = try said(titles)
            #expect(!plain.contains { $0.hasPrefix("SETCANCEL") })
            #expect(plain.contains("SETPROMPT Passcode:"))
        }
        let long = try said(PromptTitles(cancel: String(repeating: "x", count: 2_000)))
        #expect(long.contains("SETCANCEL " + String(repeating: "x", count: 40)))
    }

    @Test func theDialogInheritsNothing() throws {
        let path = FileManager.default.temporaryDirectory.path + "/pinentry-\(UUID().uuidString)"
        let script = """
            ls /proc/$$/fd > \(path).log
            echo OK
            while read -r line; do
                if [ "$line" = GETPIN ]; then echo D 1234; fi
                echo OK
            done
            """
        try writeScript(script, to: path)
        defer { for file in [path, path + ".log"] { unlink(file) } }
        // As libraries open theirs, without a mark; beyond the numbers that a shell gives its own.
        let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
        let inherited = [200, 300].map { fcntl(null, F_DUPFD, $0) }
        defer { for descriptor in [null] + inherited { close(descriptor) } }
        let question = PasscodeQuestion(purpose: .presence, reason: "to pay")
        #expect(Answer(PinentryPrompt(program: path).ask(question, until: .patience)) == .passcode("1234"))
        let open = try String(contentsOfFile: path + ".log", encoding: .utf8).split(separator: "\n").compactMap {
            Int32($0)
        }
        #expect(Set([0, 1, 2]).isSubset(of: open))
        #expect(open.allSatisfy { $0 < 200 }, "\(open)")
    }

    @Test func newPasscodeIsTypedTwice() throws {
        let answer = ask(PasscodeQuestion(purpose: .new, reason: "Choose"))
        for (first, second) in [("one", "two"), ("three", "three")] {
            try terminal.expect("New passcode:")
            try terminal.typeUnseen(first + "\n")
            try terminal.expect("Again:")
            try terminal.typeUnseen(second + "\n")
        }
        #expect(answer.wait(until: .patience) == .passcode("three"))
    }

    /// As much time as this machine needs to get so far before it is over.
    private static let times: [Duration] = [.milliseconds(300), .seconds(3), .seconds(30), .seconds(300)]

    @Test func nobodyAnswers() throws {
        for time in Self.times {
            #expect(ask(question, timeout: time).wait(until: .now + time + Patience.duration) == .timedOut)
            #expect(terminal.isEchoing)
            if try terminal.shows("Passcode:") { return }
        }
        Issue.record("the question was never shown")
    }

    @Test func questionIsTakenBack() throws {
        let cancellation = Cancellation()
        let answer = ask(question, cancellation)
        try terminal.expect("Passcode:")
        cancellation.cancel()
        #expect(answer.wait(until: .patience) == .canceled)
        #expect(terminal.isEchoing)
    }

    @Test func messageIsShownUntilItIsTakenBackOrDismissed() throws {
        for isDismissed in [false, true] {
            let cancellation = Cancellation()
            let gaveUp = Handoff<Bool>()
            Thread.detachNewThread { [prompt] in
                gaveUp.put(prompt.hold("Touch the reader", until: .patience, cancellation: cancellation))
            }
            try terminal.expect("Touch the reader")
            if isDismissed { try terminal.typeUnseen("\n") } else { cancellation.cancel() }
            #expect(gaveUp.wait(until: .patience) == isDismissed)
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
        try writeScript(script, to: path)
        defer { unlink(path) }
        let prompt = PinentryPrompt(program: path)
        #expect(prompt.isAvailable)
        guard case .unavailable(let said) = Answer(prompt.ask(question, until: .patience)) else {
            Issue.record("a broken pinentry gave an answer")
            return
        }
        #expect(said.contains(reason))
    }

    @Test func silentPinentryIsEnded() throws {
        let path = FileManager.default.temporaryDirectory.path + "/pinentry-\(UUID().uuidString)"
        try writeScript(
            "trap '' TERM\necho $$ > \(path).new\nmv \(path).new \(path).process\nwhile :; do sleep 0.05; done",
            to: path)
        defer { for file in [path, path + ".new", path + ".process"] { unlink(file) } }
        for time in Self.times {
            #expect(Answer(PinentryPrompt(program: path).ask(question, until: .now + time)) == .timedOut)
            guard let text = try? String(contentsOfFile: path + ".process", encoding: .utf8) else { continue }
            // It goes on for ever by itself, and hears no request to end.
            let process = text.trimmingCharacters(in: .whitespacesAndNewlines)
            let running = try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8)
            #expect(running?.contains(path) != true)
            return
        }
        Issue.record("the program never ran")
    }

    @Test func missingPinentryIsNotAvailable() {
        let prompt = PinentryPrompt(program: "/nonexistent/pinentry")
        #expect(!prompt.isAvailable)
    }
}
