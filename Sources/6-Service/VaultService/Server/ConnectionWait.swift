import Bytes
import CLibrary
import Synchronization

/// What a connection waits for, and since when. The connection's thread says so several times for each request, and
/// takes no lock for it.
final class ConnectionWait: Sendable {
    /// What a connection waits for, in the order in which connections make room.
    enum Reason: UInt64 {
        case greeting
        /// The rest of a request.
        case rest
        case request
        /// The answer of a person.
        case answer
        /// A turn, the vault, or the client to take in its answer.
        case work
    }

    /// The reason in the upper four bits, and below it the nanoseconds since the machine started: enough for 36 years.
    private let value = Atomic<UInt64>(0)
    private static let bitsOfTime: UInt64 = 60

    init() { begin(.greeting) }

    func begin(_ reason: Reason) {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let nanoseconds = UInt64(clamping: time.tv_sec) * 1_000_000_000 + UInt64(clamping: time.tv_nsec)
        value.store(reason.rawValue << Self.bitsOfTime | nanoseconds, ordering: .relaxed)
    }

    /// Of two connections, the one with the lower number makes room.
    var order: UInt64 { value.load(ordering: .relaxed) }

    var isForAnswerOrWork: Bool { order >> Self.bitsOfTime >= Reason.answer.rawValue }
}
