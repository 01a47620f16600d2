import Bytes
import CLibrary
import Synchronization

/// The descriptor that the handler writes the numbers of signals to; -1 while nobody reads.
private let signalWriter = Atomic<Int32>(-1)
/// The descriptor of a question to a person; -1 without one. Its end takes the question back.
private let questionDescriptor = Atomic<Int32>(-1)
/// How many signals came that end the program, and were not yet read.
private let endingCount = Atomic<Int32>(0)

/// At file scope because C calls it, on any thread. It calls only what a handler may call (signal-safety(7)).
private func noteSignal(_ number: Int32) {
    let before = errno
    defer { errno = before }
    let question = questionDescriptor.load(ordering: .relaxed)
    if question >= 0 {
        // At a prompt the terminal is as it was before.
        if number == SIGTSTP {
            kill(getpid(), SIGSTOP)
            return
        }
        if ScreenSignals.isEnding(number) { shutdown(question, Int32(truncatingIfNeeded: SHUT_RDWR)) }
        if number == SIGINT { return }
    }
    if ScreenSignals.isEnding(number), endingCount.add(1, ordering: .relaxed).newValue > 1 {
        // The program hangs: it has not read the first one.
        ScreenRestoration.restore()
        _exit(128 + number)
    }
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(signalWriter.load(ordering: .relaxed), &byte, 1)
}

/// The program is about to crash: the terminal gets back what it had, and nothing of the screen stays.
private func noteCrash(_ number: Int32) {
    ScreenRestoration.restore()
    signal(number, SIG_DFL)
    raise(number)
}

/// The signals that concern a program which has the whole screen, and other threads' news.
final class ScreenSignals: Sendable {
    private static let ending = [SIGTERM, SIGINT, SIGHUP, SIGQUIT]
    private static let others = [SIGTSTP, SIGCONT, SIGWINCH]
    private static let crashes = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV]

    /// Readable when there is something for ``take()``.
    let descriptor: Int32
    private let writer: Int32

    /// Nil if the system has no descriptor left.
    init?() {
        var ends: [Int32] = [-1, -1]
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        guard socketpair(AF_UNIX, Int32(clamping: kind), 0, &ends) == 0 else { return nil }
        (descriptor, writer) = (ends[0], ends[1])
        signalWriter.store(writer, ordering: .relaxed)
        for number in Self.ending + Self.others where !Self.isIgnored(number) { Self.handle(number, noteSignal) }
        for number in Self.crashes { Self.handle(number, noteCrash) }
    }

    fileprivate static func isEnding(_ number: Int32) -> Bool {
        number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGQUIT
    }

    /// A program like nohup starts this one with a signal ignored, and the signal must stay ignored.
    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        sigaction(number, nil, &action)
        guard action.sa_flags & SA_SIGINFO == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    private static func handle(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = handler
        sigaction(number, &action, nil)
    }

    /// Makes the screen look for what other threads have for it. Any thread may call this.
    func wake() {
        var byte: UInt8 = 0
        // A full connection has news already.
        _ = write(writer, &byte, 1)
    }

    /// Returns the signals that came, and 0 for news of other threads.
    func take() -> Set<Int32> {
        var bytes = [UInt8](repeating: 0, count: 256)
        var found: Set<Int32> = []
        while true {
            let count = read(descriptor, &bytes, bytes.count)
            guard count > 0 else { break }
            found.formUnion(bytes[..<count].map { Int32($0) })
        }
        return found
    }

    /// Runs `body`, which asks a person. A signal that ends programs takes the question back.
    ///
    /// - Parameter question: The descriptor of its cancellation.
    static func asking<Result>(_ question: Int32, _ body: () -> Result) -> Result {
        questionDescriptor.store(question, ordering: .relaxed)
        defer { questionDescriptor.store(-1, ordering: .relaxed) }
        return body()
    }

    /// Stops this process, as the terminal's key for that does, until it is continued.
    static func stop() {
        signal(SIGTSTP, SIG_DFL)
        // To the whole job, as the terminal does it: a shell script around this program stops, too.
        kill(0, SIGTSTP)
        handle(SIGTSTP, noteSignal)
    }

    deinit {
        for number in Self.ending + Self.others + Self.crashes { signal(number, SIG_DFL) }
        // A handler that still runs must not write to the next file that gets this number.
        signalWriter.store(-1, ordering: .relaxed)
        close(descriptor)
        close(writer)
    }
}
