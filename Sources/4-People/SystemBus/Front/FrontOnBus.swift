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
    private let link: FrontLink
    private let place: BusPlace
    private var calls: [UInt32: BusCall] = [:]
    private var lastCall: UInt32 = 0
    /// The processes of the connections that have asked for something.
    private var processes: [String: Int32?] = [:]
    /// The most calls that wait for their answers; the other process has its own limit for each program.
    private static let mostCalls = 16_384

    /// - Throws: `BusError` if there is no such bus, or another program keeps a name.
    init(_ place: BusPlace, _ link: FrontLink) throws(BusError) {
        (self.place, self.link) = (place, link)
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
        while !link.isFull, calls.count < Self.mostCalls, !peer.hasUnsent {
            switch try peer.next() {
            case .call(let call): try take(call)
            case .signal(let signal): notice(signal)
            case .done, .full: break
            case .pause:
                try link.flush()
                wait()
                return true
            case .end: return false
            }
        }
        try link.flush()
        try peer.flush()
        wait()
        return true
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
            if let call = calls.removeValue(forKey: number) { try peer.answer(call, order) }
        case .goOn: break
        }
    }

    private func take(_ call: BusCall) throws(BusError) {
        let request = call.request
        lastCall &+= 1
        var read = call.read(lastCall)
        if request.path == place.guardedPath {
            let owner = try? peer.callBus("GetNameOwner", [.string(place.guardian)])
            read.isOfGuardian = owner?.first?.string == request.sender
        } else {
            read.process = process(of: request.sender)
        }
        calls[lastCall] = call
        link.report(.call(read))
    }

    private func process(of sender: String) -> Int32? {
        if let known = processes[sender] { return known }
        let number = (try? peer.callBus("GetConnectionUnixProcessID", [.string(sender)]))?.first?.unsigned
        let process = number.flatMap { Int32(exactly: $0) }
        processes[sender] = .some(process)
        return process
    }

    private func notice(_ signal: BusSignal) {
        guard let name = signal.values.first?.string else { return }
        if signal.member == "NameLost", name == place.names[0] { link.report(.nameLost) }
        if signal.member == "NameOwnerChanged" {
            processes[name] = nil
            for (number, call) in calls where call.request.sender == name { calls[number] = nil }
            link.report(.left(name))
        }
    }

    private func wait() {
        let reads = !link.isFull && calls.count < Self.mostCalls && !peer.hasUnsent
        func events(_ input: Bool, _ output: Bool) -> Int16 {
            Int16(truncatingIfNeeded: (input ? POLLIN : 0) | (output ? POLLOUT : 0))
        }
        var polled = [
            pollfd(fd: peer.descriptor, events: events(reads, peer.hasUnsent || peer.awaitsRoom), revents: 0),
            pollfd(fd: link.socket.descriptor, events: events(!peer.hasUnsent, link.hasUnsent), revents: 0),
        ]
        _ = poll(&polled, 2, -1)
    }
}
