import Access
import Dispatch
import KeychainModel
import SystemLibraries

/// Has the host program ask for the passcode, in its own window.
///
/// The callback runs on a thread of its own. One that has not answered at the deadline is not waited for,
/// and its answer is dropped and wiped.
package struct CallbackPrompt: PasscodePrompt {
    package typealias Callback = @Sendable (PasscodeQuestion, Cancellation) -> PasscodeAnswer

    private let callback: Callback

    /// - Parameter callback: Gets the question, and what tells it to take its window away.
    package init(_ callback: @escaping Callback) {
        self.callback = callback
    }

    /// With a callback that suspends; its task is cancelled when its window is to go away.
    package init(_ callback: @escaping @Sendable (PasscodeQuestion) async -> PasscodeAnswer) {
        self.callback = { question, cancellation in
            let answer = Handoff<PasscodeAnswer>()
            let task = Task(executorPreference: PromptExecutor()) { answer.put(await callback(question)) }
            return cancellation.withHandler({
                task.cancel()
                answer.put(.canceled)
            }) { answer.wait(until: .now + .seconds(86_400)) ?? .timedOut }
        }
    }

    package var isAvailable: Bool { true }

    package func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> PasscodeAnswer {
        ask(question, until: deadline, cancellation: Cancellation())
    }

    package func ask(
        _ question: PasscodeQuestion, until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> PasscodeAnswer {
        let answer = Handoff<PasscodeAnswer>()
        let window = Cancellation()
        let hasStarted = DetachedThread.start("passcode") { [callback] in answer.put(callback(question, window)) }
        guard hasStarted else { return .unavailable(remedy: "end other threads of this program: it can have no more") }
        defer { window.cancel() }
        return cancellation.withHandler({ answer.put(.canceled) }) {
            answer.wait(until: deadline) ?? .timedOut
        }
    }
}

/// Runs a callback's task apart from Swift's own threads, all of which may be waiting for its answer.
private final class PromptExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "passcode-callback")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
