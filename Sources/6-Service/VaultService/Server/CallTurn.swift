import Access
import Bytes
import CLibrary
import Connections
import VaultInterface

/// The places that requests share: to work, and to hold long requests and answers.
final class WorkPlaces: Sendable {
    /// A turn to work in: the readers of the store, its writer and the stretching of passwords are for those who have
    /// one.
    let turns: FairQueue
    /// Places for answers of up to ``window`` bytes on their way out.
    let windows: FairQueue
    /// Places for requests and answers of more than that. One takes up to four times the size of the largest value,
    /// 16 MiB: as it came, opened, sealed, and as the store writes it.
    let heavies: FairQueue
    /// Places for long answers in another protocol than the daemon's own, which are whole before the first byte is
    /// sent. A call that holds one may wait for a window or a heavy place. A call that holds one of those never waits
    /// for this one, so that no two calls wait for each other.
    let guests: FairQueue

    /// What a call may hold without a place, in bytes: a socket takes in as much for a client that does not read.
    static let freeRoom = 64 << 10
    /// What a call with one of ``windows`` may hold.
    static let window = 1 << 20
    /// What a call with one of ``heavies`` may hold: as much as the longest request.
    static let heavy = WireLimits.frame

    /// - Parameter processors: How many the machine has.
    init(processors: Int) {
        // Requests with a turn of one program leave one processor free, if there are two or more. A lookup of a single
        // item needs no turn, and so finds a free processor beside one busy program.
        let ofProgram = max(1, processors - 1)
        turns = FairQueue(.init(all: 4 * ofProgram, ofUser: 2 * ofProgram, ofProgram: ofProgram))
        windows = FairQueue(.init(all: 64, ofUser: 32, ofProgram: 16))
        heavies = FairQueue(.init(all: 4, ofUser: 2, ofProgram: 1))
        guests = FairQueue(.init(all: 8, ofUser: 4, ofProgram: 2))
    }
}

/// A request's turn to work, with the room that it has for its bytes.
///
/// A call gives its turn back before it waits for room. So no call keeps a turn while it waits for room that another
/// call can free only with a turn.
// Safe to share between threads: only the connection's own thread uses it. That thread makes it, performs the request,
// and drops it. A task-local value hands it to the engine, which performs the request on the same thread.
final class CallTurn: ServedCall, @unchecked Sendable {
    private let places: WorkPlaces
    private let program: ServedProgram
    private let descriptor: Int32
    private let waiting: FairQueue.Waiting
    private(set) var hasTurn = false
    /// What the thread had worked when the call began.
    private let workBefore = CallTurn.threadTime()
    private var heldRoom: FairQueue?
    private(set) var room = WorkPlaces.freeRoom
    let largestRoom = WorkPlaces.heavy

    /// - Parameters:
    ///   - descriptor: The socket of the client.
    ///   - waiting: Calls its argument, which waits for a place, so that others have the thread's place meanwhile.
    init(
        _ program: ServedProgram, at places: WorkPlaces, descriptor: Int32, waiting: @escaping FairQueue.Waiting
    ) {
        self.waiting = waiting
        self.program = program
        self.places = places
        self.descriptor = descriptor
    }

    /// Waits for a turn. To wait costs more than a lookup takes, so an operation in slices begins without one, unless
    /// its program asks for more than its share.
    ///
    /// - Parameters:
    ///   - isSpent: Whether the program has used up its budget of work.
    ///   - bytes: The size of the request.
    func begin(_ traits: OperationTraits, isSpent: Bool, withRoomFor bytes: Int) throws(VaultError) {
        if bytes > WorkPlaces.window { enterRoom(for: bytes) }
        guard isSpent || !traits.contains(.sliced) else { return }
        resume()
        try checkClient()
    }

    /// Without a turn, a slice is short.
    var rows: Int { hasTurn ? 1_000 : 50 }

    /// Gives turn and room back. Safe to call twice.
    func end() {
        pause()
        leaveRoom()
    }

    func makeRoom(for bytes: Int) throws(VaultError) {
        guard bytes > room else { return try giveWay() }
        pause()
        leaveRoom()
        enterRoom(for: bytes)
        resume()
        try checkClient()
    }

    func giveWay() throws(VaultError) {
        if hasTurn { hasTurn = places.turns.giveWay(program, while: isClientThere, waiting: waiting) } else { resume() }
        try checkClient()
    }

    func breathe() throws(VaultError) {
        if hasTurn { sched_yield() }
        try checkClient()
    }

    func wait<Result>(for body: () -> Result) -> Result {
        let hadTurn = hasTurn
        pause()
        defer { if hadTurn { resume() } }
        return body()
    }

    /// Gives the turn back for as long as the call waits for somebody.
    func pause() {
        if hasTurn { places.turns.leave(program) }
        hasTurn = false
    }

    /// Takes a turn again, unless the client is gone.
    func resume() {
        if !hasTurn { hasTurn = places.turns.enter(program, while: isClientThere, waiting: waiting) }
    }

    /// How long the call has worked on its thread.
    var work: Duration { Self.threadTime() - workBefore }

    static func threadTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    private func enterRoom(for bytes: Int) {
        let isHeavy = bytes > WorkPlaces.window
        let queue = isHeavy ? places.heavies : places.windows
        guard queue.enter(program, while: isClientThere, waiting: waiting) else { return }
        heldRoom = queue
        room = isHeavy ? WorkPlaces.heavy : WorkPlaces.window
    }

    private func leaveRoom() {
        heldRoom?.leave(program)
        heldRoom = nil
        room = WorkPlaces.freeRoom
    }

    private func isClientThere() -> Bool {
        var polled = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&polled, 1, 0) == 0
    }

    private func checkClient() throws(VaultError) {
        guard isClientThere() else { throw .clientIsGone }
    }
}
