import Access
import CLibrary

/// A connection's place in a ``ConnectionLoop``.
// Safe to share between threads: the loop's lock guards everything that changes.
package final class ConnectionSeat: @unchecked Sendable {
    /// Where a connection is.
    enum Activity {
        /// No thread has it: it waits for input or a time.
        case resting
        /// It waits for a thread.
        case inLine
        /// A thread has it.
        case running
        /// A thread waits a moment for its next request.
        case awaited
    }

    let number: UInt64
    package let descriptor: Int32
    package let user: UInt32
    package let process: pid_t
    /// The program from whose share the connection is taken: until it is greeted, its process.
    package fileprivate(set) var program: ServedProgram
    /// Nil until the first byte.
    var connection: (any LoopedConnection)?
    let make: @Sendable (ConnectionSeat) -> (any LoopedConnection)?
    var activity = Activity.resting
    fileprivate(set) var phase = ConnectionPhase.greeting
    /// Counts the changes of the phases of all connections.
    fileprivate var since: UInt64 = 0
    /// Whether it waits for a time and for nothing else.
    var isPutOff = false
    /// Why its next step begins.
    var cause = StepCause.input
    fileprivate(set) var isGreeted = false
    /// Whether it made room for another, and is no longer counted.
    fileprivate(set) var isEnding = false

    init(
        number: UInt64, descriptor: Int32, user: UInt32, process: pid_t,
        _ make: @escaping @Sendable (ConnectionSeat) -> (any LoopedConnection)?
    ) {
        (self.number, self.descriptor, self.user, self.process, self.make) = (number, descriptor, user, process, make)
        program = Self.program(ofProcess: process, user)
    }

    deinit {
        // A connection closes it itself, perhaps later.
        if !hadConnection { close(descriptor) }
    }

    /// Whether there ever was a connection.
    var hadConnection = false

    /// Stands for a process of which nothing else is known.
    package static func program(ofProcess process: pid_t, _ user: UInt32) -> ServedProgram {
        ServedProgram(user: user, name: "process \(process)")
    }
}

/// The connections of a ``ConnectionLoop``, and whose they are. For the holder of the loop's lock.
struct ConnectionSeats {
    private struct UserSeats {
        var count = 0
        var programs: [ServedProgram: [UInt64: ConnectionSeat]] = [:]
    }

    private(set) var all: [UInt64: ConnectionSeat] = [:]
    private var users: [UInt32: UserSeats] = [:]
    private var changes: UInt64 = 0
    private var lastNumber: UInt64 = 0
    /// How many connections made room for others and are still with a thread.
    private(set) var ending = 0

    mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    func count(of program: ServedProgram) -> Int { users[program.user]?.programs[program]?.count ?? 0 }

    mutating func add(_ seat: ConnectionSeat) {
        all[seat.number] = seat
        count(seat)
        enter(.greeting, seat)
    }

    /// Gives a connection the share of its program.
    ///
    /// - Returns: False if the connection is ending.
    mutating func greeted(_ seat: ConnectionSeat, _ program: ServedProgram) -> Bool {
        guard !seat.isEnding else { return false }
        uncount(seat)
        seat.program = program
        seat.isGreeted = true
        count(seat)
        return true
    }

    mutating func enter(_ phase: ConnectionPhase, _ seat: ConnectionSeat) {
        changes += 1
        seat.phase = phase
        seat.since = changes
    }

    mutating func remove(_ seat: ConnectionSeat) {
        guard !seat.isEnding else {
            ending -= 1
            return
        }
        all[seat.number] = nil
        uncount(seat)
    }

    private mutating func count(_ seat: ConnectionSeat) {
        var seats = users[seat.program.user] ?? UserSeats()
        users[seat.program.user] = nil
        seats.count += 1
        seats.programs[seat.program, default: [:]][seat.number] = seat
        users[seat.program.user] = seats
    }

    private mutating func uncount(_ seat: ConnectionSeat) {
        let user = seat.program.user
        guard users[user]?.programs[seat.program]?.removeValue(forKey: seat.number) != nil else { return }
        if users[user]?.programs[seat.program]?.isEmpty == true { users[user]?.programs[seat.program] = nil }
        users[user]?.count -= 1
        if users[user]?.count == 0 { users[user] = nil }
    }

    /// Chooses the connection that makes room for another one. It belongs to the user with the most connections, and
    /// to the program with the most among that user's programs. A connection that never said hello goes first, then
    /// one with half a request, and one at work last. A client notices that its connection has ended before it sends
    /// anything on it.
    func first() -> ConnectionSeat? {
        let user = users.max { $0.value.count < $1.value.count }?.value
        return user?.programs.max { $0.value.count < $1.value.count }.flatMap { first(of: $0.key) }
    }

    /// The connection of a program that makes room first.
    func first(of program: ServedProgram) -> ConnectionSeat? {
        users[program.user]?.programs[program]?.values.min {
            $0.phase == $1.phase ? $0.since < $1.since : $0.phase < $1.phase
        }
    }

    /// Does not count a connection any more that a thread still has.
    mutating func end(_ seat: ConnectionSeat) {
        remove(seat)
        seat.isEnding = true
        ending += 1
    }
}
