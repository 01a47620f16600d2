import Foundation
import Glibc
import TestSupport
import Testing

/// At a real terminal, in a process of its own.
@Suite struct TerminalPromptTests {
    /// A worker at a terminal.
    private final class Asked {
        let terminal: Pty
        let process: pid_t
        private let errors = FileManager.default.temporaryDirectory.path + "/asked-\(UUID().uuidString)"

        init(_ arguments: String...) throws {
            terminal = try Pty()
            process = try terminal.start(try Self.worker(), arguments, errors: errors)
        }

        private static func worker() throws -> String {
            let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            let candidates = [own, CommandLine.arguments.first(where: { $0.hasSuffix(".xctest") }) ?? own]
                .map { URL(fileURLWithPath: $0).deletingLastPathComponent().path + "/PresenceWorker" }
            guard let found = candidates.first(where: { access($0, X_OK) == 0 }) else {
                throw MissingPart("PresenceWorker")
            }
            return found
        }

        /// What it said at its end, or the signal that ended it.
        func outcome() throws -> String {
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
            defer { unlink(errors) }
            if status & 0x7F != 0 { return "signal \(status & 0x7F)" }
            return String(decoding: try Data(contentsOf: URL(fileURLWithPath: errors)), as: UTF8.self)
        }
    }

    @Test func passcodeIsCalledWhatTheProgramCallsIt() throws {
        let asked = try Asked("titled", "300000")
        try asked.terminal.expect("The PIN: ")
        try asked.terminal.typeUnseen("1234\n")
        #expect(try asked.outcome() == "passcode 1234")
    }

    @Test func passcodeIsTypedWithoutEcho() throws {
        let asked = try Asked("presence", "300000")
        // Nothing of the reason reaches the terminal as a command.
        try asked.terminal.expect("Not that.\r\nWhat  [2J for\r\nPasscode: ")
        #expect(!asked.terminal.isEchoing)
        asked.terminal.type("ümlaut 1234\n")
        #expect(try asked.outcome() == "passcode ümlaut 1234")
        #expect(asked.terminal.isEchoing)
    }

    @Test func newPasscodeIsTypedTwice() throws {
        let asked = try Asked("new", "300000")
        for (first, second) in [("1", "2"), ("3", "3")] {
            try asked.terminal.expect("New passcode: ")
            asked.terminal.type(first + "\n")
            try asked.terminal.expect("New passcode again: ")
            asked.terminal.type(second + "\n")
        }
        #expect(try asked.outcome() == "passcode 3")
        #expect(asked.terminal.screen.contains("differ") == false)
    }

    @Test func nobodyAnswers() throws {
        let asked = try Asked("presence", "50")
        #expect(try asked.outcome() == "timed out")
        #expect(asked.terminal.isEchoing)
    }

    @Test func questionIsTakenBack() throws {
        let asked = try Asked("presence", "300000", "50")
        #expect(try asked.outcome() == "canceled")
        #expect(asked.terminal.isEchoing)
    }

    @Test func endOfInputCancels() throws {
        let asked = try Asked("presence", "300000")
        try asked.terminal.expect("Passcode: ")
        asked.terminal.type("\u{04}")
        #expect(try asked.outcome() == "canceled")
        #expect(asked.terminal.isEchoing)
    }

    /// Though other threads are there, which the signal may pick.
    @Test func signalPutsTheEchoBack() throws {
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let asked = try Asked("presence", "300000", "300000")
            try asked.terminal.expect("Passcode: ")
            kill(asked.process, signal)
            #expect(try asked.outcome() == "signal \(signal)")
            #expect(asked.terminal.isEchoing)
        }
    }
}
