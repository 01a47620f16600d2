import Connections
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
    /// - Parameter isLate: Whether the time is over for which an earlier answer has waited.
    /// - Throws: ``UnlockAwaited`` if the call is to be answered when the vault is unlocked, or late.
    func answer(_ call: SecretCall, isLate: Bool) throws -> SecretAnswer
}

/// One program on a bus.
struct BusProgram {
    let client: any BusClient
    let process: Int32
    /// From whose share its calls are taken; nil for the portal, which asks for many applications.
    let share: GuestVault?
}

/// The answer to a call has to wait until the vault is unlocked, or this time is over.
struct UnlockAwaited: Error {
    let patience: Duration
}

/// The calls of the programs on a bus that wait for an answer.
///
/// Processes take turns, so that none keeps another from its answers, however many connections it has. Each connection
/// has its answers in order.
final class SecretLines: Sendable {
    /// One connection's calls.
    // Safe to share between threads: the client is used by the worker alone that has set `isAtWork`, under the lock.
    private final class Line: @unchecked Sendable {
        let program: BusProgram
        /// The connection's name.
        let sender: String
        var waiting: [Waiting] = []
        var isAtWork = false
        var mustLookAtPrompts = false
        /// When a prompt is due.
        var deadline: ContinuousClock.Instant?
        /// Until when the next call waits: for its turn, or for the vault to be unlocked.
        var notBefore: ContinuousClock.Instant?
        var awaitsUnlock = false
        var lastUse = ContinuousClock.now

        init(_ program: BusProgram, _ sender: String) { (self.program, self.sender) = (program, sender) }

        var client: any BusClient { program.client }
        var process: Int32 { program.process }
        var hasWork: Bool { !isAtWork && (mustLookAtPrompts || (!waiting.isEmpty && notBefore == nil)) }
        var isIdle: Bool { !isAtWork && !mustLookAtPrompts && waiting.isEmpty && deadline == nil }

        /// When it has something without a further call.
        var alarm: ContinuousClock.Instant? {
            let pause = waiting.isEmpty ? nil : notBefore
            return [deadline, pause].compactMap(\.self).min()
        }

        /// Lets the next call go on.
        func endPause() {
            if awaitsUnlock, !waiting.isEmpty { waiting[0].isLate = notBefore.map { $0 <= .now } ?? false }
            (notBefore, awaitsUnlock) = (nil, false)
        }
    }

    private struct Waiting {
        let number: UInt32
        let call: SecretCall
        let size: Int
        /// Whether it was counted, and the time is over for which it was put off.
        var isAdmitted = false
        var isLate = false
    }

    struct Answered: Sendable {
        let number: UInt32
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
    /// The most of them for one process: long answers to all of its connections leave workers to others.
    private static let mostWorkersOfAProcess = 2
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
    /// - Parameter program: Whose connection it is, if it is new.
    /// - Returns: False if there are too many.
    func add(
        _ call: SecretCall, _ number: UInt32, of sender: String, _ program: () -> BusProgram
    ) -> Bool {
        let size = call.arguments.reduce(0) { $0 + $1.size }
        let isKnown = state.withLock { $0.lines[sender] != nil }
        let made = isKnown ? nil : program()
        let isTaken = state.withLock { state in
            if let made {
                guard state.makeRoom() else { return false }
                state.lines[sender] = Line(made, sender)
                if !state.order.contains(made.process) { state.order.append(made.process) }
            }
            guard let line = state.lines[sender] else { return false }
            let waiting = state.lines.values.filter { $0.process == line.process }.flatMap(\.waiting)
            guard waiting.count < Self.mostOfAProcess,
                waiting.reduce(size, { $0 + $1.size }) <= Self.mostBytesOfAProcess
            else { return false }
            line.waiting.append(Waiting(number: number, call: call, size: size))
            line.lastUse = .now
            return true
        }
        if isTaken { work.signal() }
        return isTaken
    }

    /// Forgets a connection that is gone.
    ///
    /// Its calls are not answered any more.
    func remove(_ sender: String) { _ = state.withLock { $0.remove(sender) } }

    /// Takes the answers that are ready.
    func takeAnswers() -> [Answered] {
        state.withLock { state in
            defer { state.answers = [] }
            return state.answers
        }
    }

    /// When the next prompt or call is due.
    var deadline: ContinuousClock.Instant? { state.withLock { $0.lines.values.compactMap(\.alarm).min() } }

    /// Lets the workers go on with the prompts and calls that are due; after the vault was locked or unlocked, with
    /// all that wait for that.
    func goOn(dueBefore time: ContinuousClock.Instant, isLockChanged: Bool) {
        let count = state.withLock { state in
            var count = 0
            for line in state.lines.values {
                if let deadline = line.deadline, isLockChanged || deadline <= time {
                    line.mustLookAtPrompts = true
                    line.deadline = nil
                    count += 1
                }
                if let end = line.notBefore, (isLockChanged && line.awaitsUnlock) || end <= time {
                    line.endPause()
                    count += 1
                }
            }
            return count
        }
        for _ in 0..<count { work.signal() }
    }

    private func next() -> Line? {
        state.withLock { state in
            // One pass: a process may have a thousand connections.
            var longest: [Int32: Line] = [:]
            var busy: [Int32: Int] = [:]
            for line in state.lines.values where line.isAtWork { busy[line.process, default: 0] += 1 }
            for line in state.lines.values
            where line.hasWork && busy[line.process, default: 0] < Self.mostWorkersOfAProcess {
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
        let call = state.withLock { _ -> Waiting? in
            line.mustLookAtPrompts = false
            return line.waiting.isEmpty || line.notBefore != nil ? nil : line.waiting.removeFirst()
        }
        let lockChanges = hub.lockChanges
        let result = call.flatMap { answer(to: $0, line) }
        let due = line.client.due(now: .now)
        let deadline = line.client.deadline
        let hasMore = state.withLock { state in
            if let call, let result { state.answers.append(Answered(number: call.number, result: result)) }
            line.isAtWork = false
            line.deadline = deadline
            // A change that came meanwhile was told to the other lines.
            if hub.lockChanges != lockChanges {
                if deadline != nil { line.mustLookAtPrompts = true }
                if line.awaitsUnlock { line.endPause() }
            }
            return state.lines.values.contains { $0.process == line.process && $0.hasWork }
        }
        // The answer is sent before the signals, and a pause of the line is looked at.
        mailbox.wake()
        for var signal in due {
            // Not all programs subscribe to what they wait for.
            signal.destination = line.sender
            mailbox.put(.awaited(signal))
        }
        if hasMore { work.signal() }
    }

    /// Answers a call, unless it has to wait.
    private func answer(to waiting: Waiting, _ line: Line) -> Result<SecretAnswer, SecretServiceError>? {
        var waiting = waiting
        let share = line.program.share
        if !waiting.isAdmitted, let delay = share?.admitCall(), delay > .zero {
            waiting.isAdmitted = true
            putBack(waiting, line, for: delay, awaitsUnlock: false)
            return nil
        }
        var patience: Duration?
        var result: Result<SecretAnswer, SecretServiceError>?
        let answer = {
            do {
                result = .success(try line.client.answer(waiting.call, isLate: waiting.isLate))
            } catch let awaited as UnlockAwaited {
                patience = awaited.patience
            } catch {
                result = .failure(SecretServiceError(error))
            }
        }
        var delay = Duration.zero
        if let share { delay = share.call(answer) } else { answer() }
        if let patience {
            waiting.isAdmitted = true
            putBack(waiting, line, for: patience, awaitsUnlock: true)
            return nil
        }
        // For what was refused, the next call waits.
        if delay > .zero { state.withLock { _ in line.notBefore = .now + delay } }
        return result
    }

    private func putBack(_ waiting: Waiting, _ line: Line, for time: Duration, awaitsUnlock: Bool) {
        state.withLock { _ in
            line.waiting.insert(waiting, at: 0)
            (line.notBefore, line.awaitsUnlock) = (.now + time, awaitsUnlock)
        }
    }
}
