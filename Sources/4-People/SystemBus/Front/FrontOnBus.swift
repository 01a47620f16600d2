import CLibrary
import Frames

/// What a front process serves on a bus.
struct BusPlace: Sendable {
    /// In D-Bus's notation.
    var address: String
    /// The names to take there.
    var names: [String]
    /// Whether to take them from owners that allow it.
    var isReplacing: Bool
    /// The object that only the owner of ``guardian`` may ask for more than its properties.
    var guardedPath: String
    var guardian: String

    /// The place as the bytes of a message.
    var bytes: [UInt8] {
        let parts = [address, isReplacing ? "1" : "0", guardedPath, guardian] + names
        return Array(parts.joined(separator: "\0").utf8)
    }

    init(address: String, names: [String], isReplacing: Bool, guardedPath: String, guardian: String) {
        (self.address, self.names, self.isReplacing) = (address, names, isReplacing)
        (self.guardedPath, self.guardian) = (guardedPath, guardian)
    }

    init?(_ bytes: some Collection<UInt8>) {
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: "\0", omittingEmptySubsequences: false)
            .map(String.init)
        guard parts.count >= 5 else { return nil }
        self.init(
            address: parts[0], names: Array(parts[4...]), isReplacing: parts[1] == "1", guardedPath: parts[2],
            guardian: parts[3])
    }
}

/// The programs of a bus in a front process. For one thread.
final class FrontOnBus {
    private let peer: BusPeer
    /// Asks the bus. Its answers would come to the other connection behind all that programs have sent there.
    private let asking: BusConnection
    private let link: FrontLink
    private let place: BusPlace
    private var calls: [UInt32: Waiting] = [:]
    /// What waits of each process, or connection without one.
    private var waiting: [String: Counts] = [:]
    private var lastCall: UInt32 = 0
    /// The processes of the connections that have asked for something.
    private var processes: [String: Int32?] = [:]
    /// The most calls that wait for their answers; the other process has its own limit for each program.
    private static let mostCalls = 16_384
    /// What may wait of one process. Lists take long to read, and other programs' calls are read after them.
    private static let mostOfProcess = Counts(calls: 128, lists: 4, bytes: 16 << 20)
    /// Above this many bytes in memory for the other process, no further message is read until they are sent. Below it,
    /// all that comes is looked at: too many calls of a program are refused at once, and others come after them.
    private static let mostHeld = 64 << 20
    /// How many messages are looked at before the next answer.
    private static let portion = 64

    /// A call that waits for its answer.
    private struct Waiting {
        let call: BusCall
        let owner: String
        /// The bytes of its report.
        let bytes: Int
    }

    private struct Counts {
        var calls = 0
        /// Calls with lists of objects.
        var lists = 0
        var bytes = 0

        func hasRoom(for call: BusCall) -> Bool {
            calls < mostOfProcess.calls && (!call.hasList || lists < mostOfProcess.lists) && bytes < mostOfProcess.bytes
        }
    }

    /// - Throws: `BusError` if there is no such bus, or another program keeps a name.
    init(_ place: BusPlace, _ link: FrontLink) throws(BusError) {
        (self.place, self.link) = (place, link)
        asking = try BusConnection(.at(place.address))
        peer = try BusPeer(.at(place.address), name: place.names[0], replacing: place.isReplacing)
        for name in place.names.dropFirst() { try peer.request(name, replacing: place.isReplacing) }
        // Tells when a program leaves the bus.
        try peer.listen(
            "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',member='NameOwnerChanged',"
                + "arg2=''")
    }

    /// Serves until the bus or the other process is gone.
    func run() {
        do {
            while try step() {}
        } catch {
            // The other process sees the end of the connection.
        }
    }

    private func step() throws -> Bool {
        while let (order, _) = try nextOrder() { try obey(order) }
        var isAllRead = false
        for _ in 0..<Self.portion where !isAllRead && mayRead {
            switch try peer.next() {
            case .call(let call): try take(call)
            case .signal(let signal): notice(signal)
            case .done, .full: break
            case .pause: isAllRead = true
            case .end: return false
            }
        }
        try link.flush()
        try peer.flush()
        if isAllRead || !mayRead { wait() }
        return true
    }

    private var mayRead: Bool {
        link.held <= Self.mostHeld && calls.count < Self.mostCalls && !peer.hasUnsent
    }

    private func nextOrder() throws -> (FrontOrder, Bool)? {
        try link.flush()
        try peer.flush()
        // A bus that does not read makes the other process wait, too.
        return peer.hasUnsent ? nil : try link.next()
    }

    private func obey(_ order: FrontOrder) throws(BusError) {
        switch order {
        case .signal(let signal): try peer.emit(signal)
        case .answer(let number, _, _, _), .refusal(let number, _, _):
            if let call = forget(number) { try peer.answer(call, order) }
        case .goOn: break
        }
    }

    private func forget(_ number: UInt32) -> BusCall? {
        guard let forgotten = calls.removeValue(forKey: number) else { return nil }
        count(forgotten, -1)
        return forgotten.call
    }

    private func count(_ call: Waiting, _ sign: Int) {
        var counts = waiting[call.owner] ?? Counts()
        counts.calls += sign
        if call.call.hasList { counts.lists += sign }
        counts.bytes += sign * call.bytes
        waiting[call.owner] = counts.calls > 0 ? counts : nil
    }

    private func take(_ call: BusCall) throws(BusError) {
        let request = call.request
        let isGuarded = request.path == place.guardedPath
        let process = isGuarded ? nil : process(of: request.sender)
        let owner = process.map { "\($0)" } ?? request.sender
        // Before its arguments are read.
        guard (waiting[owner] ?? Counts()).hasRoom(for: call) else {
            return try peer.refuse(
                call, "org.freedesktop.DBus.Error.LimitsExceeded", "too many calls of this program wait for answers")
        }
        lastCall &+= 1
        var read = call.read(lastCall)
        if isGuarded {
            let owner = try? asking.call(.bus, "GetNameOwner", [.string(place.guardian)])
            read.isOfGuardian = owner?.first?.string == request.sender
        } else {
            read.process = process
        }
        guard let bytes = link.report(read) else { return try peer.refuseLong(call) }
        let taken = Waiting(call: call, owner: owner, bytes: bytes)
        calls[lastCall] = taken
        count(taken, 1)
    }

    private func process(of sender: String) -> Int32? {
        if let known = processes[sender] { return known }
        let answer = try? asking.call(.bus, "GetConnectionUnixProcessID", [.string(sender)])
        let process = answer?.first?.unsigned.flatMap { Int32(exactly: $0) }
        processes[sender] = .some(process)
        return process
    }

    private func notice(_ signal: BusSignal) {
        guard let name = signal.values.first?.string else { return }
        if signal.member == "NameLost", name == place.names[0] { link.report(.nameLost) }
        if signal.member == "NameOwnerChanged" {
            processes[name] = nil
            for (number, waiting) in calls where waiting.call.request.sender == name { _ = forget(number) }
            link.report(.left(name))
        }
    }

    private func wait() {
        let ofPeer = BusPeer.events(input: mayRead, output: peer.hasUnsent || peer.awaitsRoom)
        let ofLink = BusPeer.events(input: !peer.hasUnsent, output: link.hasUnsent)
        var polled = [
            pollfd(fd: peer.descriptor, events: ofPeer, revents: 0),
            pollfd(fd: link.socket.descriptor, events: ofLink, revents: 0),
        ]
        _ = poll(&polled, 2, -1)
    }
}
