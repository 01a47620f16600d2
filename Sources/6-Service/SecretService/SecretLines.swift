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
    func answer(_ call: SecretCall) throws -> SecretAnswer
}

/// The calls of the programs on a bus that wait for an answer.
///
/// Processes take turns, so that none keeps another from its answers, however many connections it has. Each connection
/// has its answers in order.
final class SecretLines: Sendable {
    /// One connection's calls.
    // Safe to share between threads: the client is used by the worker alone that has set `isAtWork`, under the lock.
    private final class Line: @unchecked Sendable {
        let client: any BusClient
        /// The connection's name.
        let sender: String
        let process: Int32
        var waiting: [(number: Int, call: SecretCall, size: Int)] = []
        var isAtWork = false
        var mustLookAtPrompts = false
        /// When a prompt is due.
        var deadline: ContinuousClock.Instant?
        var lastUse = ContinuousClock.now

        init(_ client: any BusClient, _ sender: String, _ process: Int32) {
            (self.client, self.sender, self.process) = (client, sender, process)
        }

        var hasWork: Bool { !isAtWork && (mustLookAtPrompts || !waiting.isEmpty) }
        var isIdle: Bool { !isAtWork && !hasWork && deadline == nil }
    }

    struct Answered: Sendable {
        let number: Int
        let result: Result<SecretAnswer, SecretServiceError>
    }

    private struct State {
        /// By the names of the connections.
        var lines: [String: Line] = [:]
        /// The processes, the next in front.
        var order: [Int32] = []
        var answers: [Answered] = []
        var isOver = false

        /// Makes room for one more connection, at the cost of the process that has most.
        mutating func makeRoom() -> Bool {
            guard lines.count >= SecretLines.mostConnections else { return true }
            let counts = lines.values.reduce(into: [Int32: Int]()) { $0[$1.process, default: 0] += 1 }
            let idle = lines.filter(\.value.isIdle).max { one, other in
                let (first, second) = (counts[one.value.process] ?? 0, counts[other.value.process] ?? 0)
                return first == second ? one.value.lastUse > other.value.lastUse : first < second
            }
            guard let idle else { return false }
            remove(idle.key)
            return true
        }

        @discardableResult
        mutating func remove(_ sender: String) -> Line? {
            guard let line = lines.removeValue(forKey: sender) else { return nil }
            if !lines.values.contains(where: { $0.process == line.process }) {
                order.removeAll { $0 == line.process }
            }
            return line
        }
    }

    private let state = Mutex(State())
    private let work = DispatchSemaphore(value: 0)
    private let mailbox: Mailbox
    private let hub: SecretHub
    private static let workers = 8
    private static let mostConnections = 1024
    /// The most calls of one process that wait, and the most bytes of them.
    private static let mostOfAProcess = 128
    private static let mostBytesOfAProcess = 16 << 20

    /// - Parameter mailbox: Woken for each answer.
    init(_ mailbox: Mailbox, _ hub: SecretHub) { (self.mailbox, self.hub) = (mailbox, hub) }

    /// - Returns: False if no thread can be started.
    func start() -> Bool {
        let started = (0..<Self.workers).count { _ in
            ConnectionThread.start { [self] in
                while true {
                    work.wait()
                    guard !state.withLock(\.isOver) else { return }
                    if let line = next() { answer(line) }
                }
            }
        }
        return started > 0
    }

    /// Ends the workers, when they have answered.
    func stop() {
        state.withLock { $0.isOver = true }
        for _ in 0..<Self.workers { work.signal() }
    }

    /// Adds a call to those that wait.
    ///
    /// - Parameter client: Makes what answers a connection that is new, and says which process has it.
    /// - Returns: False if there are too many.
    func add(
        _ call: SecretCall, _ number: Int, of sender: String, _ client: () -> (any BusClient, process: Int32)
    ) -> Bool {
        let size = call.arguments.reduce(0) { $0 + $1.size }
        let isKnown = state.withLock { $0.lines[sender] != nil }
        let made = isKnown ? nil : client()
        let isTaken = state.withLock { state in
            if let made {
                guard state.makeRoom() else { return false }
                state.lines[sender] = Line(made.0, sender, made.process)
                if !state.order.contains(made.process) { state.order.append(made.process) }
            }
            guard let line = state.lines[sender] else { return false }
            let waiting = state.lines.values.filter { $0.process == line.process }.flatMap(\.waiting)
            guard waiting.count < Self.mostOfAProcess,
                waiting.reduce(size, { $0 + $1.size }) <= Self.mostBytesOfAProcess
            else { return false }
            line.waiting.append((number, call, size))
            line.lastUse = .now
            return true
        }
        if isTaken { work.signal() }
        return isTaken
    }

    /// Forgets a connection that is gone.
    ///
    /// - Returns: The numbers of the calls that are not answered any more.
    func remove(_ sender: String) -> [Int] {
        state.withLock { $0.remove(sender)?.waiting.map(\.number) ?? [] }
    }

    /// Takes the answers that are ready.
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
            // One pass: a process may have a thousand connections.
            var longest: [Int32: Line] = [:]
            for line in state.lines.values where line.hasWork {
                if let other = longest[line.process], other.lastUse <= line.lastUse { continue }
                longest[line.process] = line
            }
            for (index, process) in state.order.enumerated() {
                guard let line = longest[process] else { continue }
                state.order.remove(at: index)
                state.order.append(process)
                line.isAtWork = true
                line.lastUse = .now
                return line
            }
            return nil
        }
    }

    private func answer(_ line: Line) {
        let call = state.withLock { _ in
            line.mustLookAtPrompts = false
            return line.waiting.isEmpty ? nil : line.waiting.removeFirst()
        }
        let result = call.map { waiting in SecretAnswer.result { try line.client.answer(waiting.call) } }
        let lockChanges = hub.lockChanges
        let due = line.client.due(now: .now)
        let deadline = line.client.deadline
        let hasMore = state.withLock { state in
            if let call, let result { state.answers.append(Answered(number: call.number, result: result)) }
            line.isAtWork = false
            line.deadline = deadline
            // A change that came meanwhile was told to the other lines.
            if deadline != nil, hub.lockChanges != lockChanges { line.mustLookAtPrompts = true }
            return line.hasWork
        }
        // The answer is sent before the signals.
        mailbox.wake()
        for var signal in due {
            // Not all programs subscribe to what they wait for.
            signal.destination = line.sender
            mailbox.put(.awaited(signal))
        }
        if hasMore { work.signal() }
    }
}
