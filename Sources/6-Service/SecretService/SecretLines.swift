import Dispatch
import Synchronization
import SystemBus
import VaultService

/// What answers one program on a bus, one call after the other.
protocol BusClient: AnyObject {
    /// When ``due(now:)`` has something without a call.
    var deadline: ContinuousClock.Instant? { get }
    /// Returns the signals that are due for this program alone.
    func due(now: ContinuousClock.Instant) -> [SentSignal]
    func answer(_ call: BusRequest) throws -> SecretAnswer
}

/// The calls of the programs on a bus that wait for an answer. Programs take turns, so that none keeps another from its
/// answers; each of them has its answers in order.
final class SecretLines: Sendable {
    /// One program's calls.
    // Safe to share between threads: the client is used by the worker alone that has set `isAtWork`, under the lock.
    private final class Line: @unchecked Sendable {
        let client: any BusClient
        var waiting: [(number: Int, request: BusRequest)] = []
        var isAtWork = false
        var mustLookAtPrompts = false
        /// When a prompt is due.
        var deadline: ContinuousClock.Instant?

        init(_ client: any BusClient) { self.client = client }

        var hasWork: Bool { !isAtWork && (mustLookAtPrompts || !waiting.isEmpty) }
    }

    struct Answered: Sendable {
        let number: Int
        let result: Result<SecretAnswer, SecretServiceError>
    }

    private struct State {
        var lines: [String: Line] = [:]
        /// The programs, the next in front.
        var order: [String] = []
        var answers: [Answered] = []
        var isOver = false
    }

    private let state = Mutex(State())
    private let work = DispatchSemaphore(value: 0)
    private let mailbox: Mailbox
    private static let workers = 8
    private static let mostPrograms = 1024
    private static let mostOfAProgram = 128

    /// - Parameter mailbox: Woken for each answer.
    init(_ mailbox: Mailbox) { self.mailbox = mailbox }

    func start() {
        for _ in 0..<Self.workers {
            _ = ConnectionThread.start { [self] in
                while true {
                    work.wait()
                    guard !state.withLock(\.isOver) else { return }
                    if let line = next() { answer(line) }
                }
            }
        }
    }

    /// Ends the workers, when they have answered.
    func stop() {
        state.withLock { $0.isOver = true }
        for _ in 0..<Self.workers { work.signal() }
    }

    /// - Returns: False if there are too many.
    func add(_ request: BusRequest, _ number: Int, of sender: String, _ client: () -> any BusClient) -> Bool {
        let isKnown = state.withLock { $0.lines[sender] != nil }
        let made = isKnown ? nil : Line(client())
        let isTaken = state.withLock { state in
            if let made {
                guard state.lines.count < Self.mostPrograms else { return false }
                state.lines[sender] = made
                state.order.append(sender)
            }
            guard let line = state.lines[sender], line.waiting.count < Self.mostOfAProgram else { return false }
            line.waiting.append((number, request))
            return true
        }
        if isTaken { work.signal() }
        return isTaken
    }

    /// Forgets a program that is gone.
    ///
    /// - Returns: The numbers of the calls that are not answered any more.
    func remove(_ sender: String) -> [Int] {
        state.withLock { state in
            guard let line = state.lines.removeValue(forKey: sender) else { return [] }
            state.order.removeAll { $0 == sender }
            return line.waiting.map(\.number)
        }
    }

    func takeAnswers() -> [Answered] {
        state.withLock { state in
            defer { state.answers = [] }
            return state.answers
        }
    }

    /// When the next prompt is due.
    var deadline: ContinuousClock.Instant? { state.withLock { $0.lines.values.compactMap(\.deadline).min() } }

    /// Lets the workers look at the prompts that are due; nil for all.
    func lookAtPrompts(dueBefore time: ContinuousClock.Instant?) {
        let count = state.withLock { state in
            var count = 0
            for line in state.lines.values where line.deadline.map({ time == nil || $0 <= time ?? $0 }) ?? false {
                line.mustLookAtPrompts = true
                line.deadline = nil
                count += 1
            }
            return count
        }
        for _ in 0..<count { work.signal() }
    }

    private func next() -> Line? {
        state.withLock { state in
            guard let index = state.order.firstIndex(where: { state.lines[$0]?.hasWork ?? false }) else { return nil }
            let sender = state.order.remove(at: index)
            state.order.append(sender)
            let line = state.lines[sender]
            line?.isAtWork = true
            return line
        }
    }

    private func answer(_ line: Line) {
        let call = state.withLock { _ in
            line.mustLookAtPrompts = false
            return line.waiting.isEmpty ? nil : line.waiting.removeFirst()
        }
        let result = call.map { call in SecretAnswer.result { try line.client.answer(call.request) } }
        let due = line.client.due(now: .now)
        let deadline = line.client.deadline
        let hasMore = state.withLock { state in
            if let call, let result { state.answers.append(Answered(number: call.number, result: result)) }
            line.isAtWork = false
            line.deadline = deadline
            return line.hasWork
        }
        // The answer is sent before the signals.
        mailbox.wake()
        for signal in due { mailbox.put(.signal(signal)) }
        if hasMore { work.signal() }
    }
}
