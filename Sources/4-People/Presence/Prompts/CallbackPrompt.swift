import Access
import Dispatch
import SystemLibraries

/// Lets the host program ask for the passcode in its own window.
///
/// The callback runs on its own thread. After the deadline, nobody waits for it; a late answer is dropped and wiped.
package struct CallbackPrompt: PasscodePrompt {
    package typealias Callback = @Sendable (PasscodeQuestion, Cancellation) -> PasscodeAnswer

    private let callback: Callback

    /// - Parameter callback: Gets the question, and a cancellation that tells it to close its window.
    package init(_ callback: @escaping Callback) { self.callback = callback }

    /// Takes an async callback. Its task is cancelled when its window must close.
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

/// Runs a callback's task outside of Swift's own threads, because all of those may be waiting for its answer.
private final class PromptExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "passcode-callback")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
