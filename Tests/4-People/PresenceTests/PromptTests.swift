import Access
import Bytes
import Foundation
import Glibc
import KeychainModel
import TestSupport
import Testing

@testable import Presence

/// The prompts that need no dialog.
@Suite struct PromptTests {
    private let question = PasscodeQuestion(purpose: .unlock, reason: "Unlock")

    private func text(_ answer: PasscodeAnswer) -> String? {
        guard case .passcode(let passcode) = answer else { return nil }
        return passcode.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// A pipe with `contents` in it, whose other end is still open.
    private func pipe(_ contents: String) -> Pipe {
        let pipe = Pipe()
        pipe.fileHandleForWriting.write(Data(contents.utf8))
        return pipe
    }

    @Test func descriptorGivesALineAndLeavesTheRest() {
        let pipe = pipe("12 34\nnext\n")
        let descriptor = pipe.fileHandleForReading.fileDescriptor
        let prompt = DescriptorPrompt(descriptor)
        #expect(text(prompt.ask(question, until: .patience)) == "12 34")
        // The same answer to the next question, but for one that says that it is wrong.
        #expect(text(prompt.ask(question, until: .patience)) == "12 34")
        var complaining = question
        complaining.complaint = "Wrong."
        guard case .unavailable = prompt.ask(complaining, until: .patience) else {
            Issue.record("a wrong passcode was given again")
            return
        }
        #expect(text(DescriptorPrompt(descriptor).ask(question, until: .patience)) == "next")
    }

    @Test func descriptorEndsAtANulAndAtTheEnd() throws {
        let terminated = pipe("secret\u{0}")
        #expect(
            text(
                DescriptorPrompt(terminated.fileHandleForReading.fileDescriptor)
                    .ask(question, until: .patience)) == "secret")
        let ended = pipe("secret")
        try ended.fileHandleForWriting.close()
        #expect(
            text(DescriptorPrompt(ended.fileHandleForReading.fileDescriptor).ask(question, until: .patience))
                == "secret")
    }

    @Test func descriptorThatNobodyWritesTo() {
        let silent = Pipe()
        let descriptor = silent.fileHandleForReading.fileDescriptor
        guard case .timedOut = DescriptorPrompt(descriptor).ask(question, until: .now + .milliseconds(50)) else {
            Issue.record("nobody answered, and there was an answer")
            return
        }
        let cancellation = Cancellation()
        cancellation.cancel()
        let answer = DescriptorPrompt(descriptor).ask(
            question, until: .patience, cancellation: cancellation)
        guard case .canceled = answer else {
            Issue.record("a question that was taken back had an answer")
            return
        }
    }

    @Test func descriptorsThatCannotBeRead() {
        let long = pipe(String(repeating: "x", count: DescriptorPrompt.limit + 1))
        for descriptor in [long.fileHandleForReading.fileDescriptor, 9_999] {
            guard
                case .unavailable(let remedy) = DescriptorPrompt(descriptor).ask(question, until: .patience)
            else {
                Issue.record("there was an answer on \(descriptor)")
                return
            }
            #expect(remedy.contains("descriptor \(descriptor)"))
        }
    }

    @Test func callbackAnswers() throws {
        let secret = try SecretBytes("1234")
        #expect(text(CallbackPrompt { _, _ in .passcode(secret) }.ask(question, until: .patience)) == "1234")
        let suspending = CallbackPrompt { question in
            await Task.yield()
            return question.purpose == .unlock ? .passcode(secret) : .canceled
        }
        #expect(text(suspending.ask(question, until: .patience)) == "1234")
    }

    /// The host program's window is told to go away, whatever ended the question.
    @Test func callbackThatDoesNotAnswer() {
        let gone = Handoff<Bool>()
        let prompt = CallbackPrompt { _, window in
            let closed = Handoff<Bool>()
            window.withHandler({ closed.put(true) }) { gone.put(closed.wait(until: .patience) == true) }
            return .canceled
        }
        guard case .timedOut = prompt.ask(question, until: .now + .milliseconds(50)) else {
            Issue.record("a callback that hangs had an answer")
            return
        }
        #expect(gone.wait(until: .patience) == true)
    }

    @Test func firstAvailableWayIsTaken() throws {
        let chain = PromptChain([
            ScriptedPrompt(isAvailable: false), ScriptedPrompt([.unavailable(remedy: "broken")]),
            try ScriptedPrompt(typing: "1234"),
        ])
        #expect(chain.isAvailable)
        #expect(text(chain.ask(question, until: .patience)) == "1234")
        #expect(!PromptChain([ScriptedPrompt(isAvailable: false)]).isAvailable)
        guard case .unavailable = PromptChain([]).ask(question, until: .patience) else {
            Issue.record("nothing had an answer")
            return
        }
    }

    @Test func turnsAreTakenInOrder() {
        let turn = TurnQueue()
        let (inside, second) = (Handoff<Bool>(), Handoff<Bool>())
        let release = Cancellation()
        Thread.detachNewThread {
            turn.take(until: .patience, Cancellation()) {
                inside.put(true)
                let ended = Handoff<Bool>()
                release.withHandler({ ended.put(true) }) { _ = ended.wait(until: .patience) }
            }
        }
        #expect(inside.wait(until: .patience) == true)
        #expect(turn.take(until: .now + .milliseconds(20), Cancellation(), { true }) == nil)
        let canceled = Cancellation()
        canceled.cancel()
        #expect(turn.take(until: .patience, canceled, { true }) == nil)
        Thread.detachNewThread {
            second.put(turn.take(until: .patience, Cancellation(), { true }) ?? false)
        }
        release.cancel()
        #expect(second.wait(until: .patience) == true)
        #expect(turn.take(until: .patience, Cancellation(), { true }) == true)
    }

    @Test(arguments: ["", "plain", "100 %\nnext", "ä\\%25", "\u{7F}\t"])
    func assuanTextSurvives(_ text: String) {
        let escaped = AssuanText.escape(text)
        #expect(!escaped.utf8.contains { $0 < 0x20 })
        var line = Array("D \(escaped)".utf8)
        let back = line.withUnsafeMutableBytes { Array(AssuanText.unescape($0)) }
        #expect(String(decoding: back, as: UTF8.self) == text)
    }
}
