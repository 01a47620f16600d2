import CLibrary
import SystemLibraries

/// A service's connection: to one program with no bus between them, or to a bus. For one thread.
///
/// Without a bus, the program believes that the service is the bus. The owner of this value therefore answers the calls
/// to the bus, too. Nothing waits for the other end longer than its time.
package final class BusPeer {
    package enum Event {
        case call(BusCall)
        case signal(BusSignal)
        /// The deadline passed, or there is something to read in `wake`.
        case pause
        /// The other end has closed the connection, or broken the rules.
        case end
    }

    private let library: SDBus
    private let bus: UnsafeMutableRawPointer
    private let isOnBus: Bool
    /// What came while an answer waited for the other end to take it in.
    private var early: [UnsafeMutableRawPointer] = []
    /// The bytes of the message that is arriving.
    private var unfinished = 0

    /// The name under which a program sees the service, without a bus.
    package static let serviceName = ":1.0"
    /// The longest message that is taken, in bytes.
    package static let largestMessage = 2 << 20
    /// How long the other end may take to take an answer in.
    private static let patience = Duration.seconds(10)
    /// How much a program may send before it takes an answer in, in messages.
    private static let mostEarly = 256

    /// Serves a program without a bus.
    ///
    /// - Parameter descriptor: A connected socket, which belongs to the connection from now on.
    package init(_ descriptor: Int32) throws(BusError) {
        let library: SDBus
        switch SDBus.loaded {
        case .success(let loaded): library = loaded
        case .failure(let error):
            close(descriptor)
            throw .libraryMissing(error)
        }
        var made: UnsafeMutableRawPointer?
        let result = library.new(&made)
        guard result >= 0, let made else {
            close(descriptor)
            throw .code(result, "serve")
        }
        (self.library, bus, isOnBus) = (library, made, false)
        var random = SystemRandomNumberGenerator()
        let steps = [
            library.setDescriptors(made, descriptor, descriptor),
            library.setServer(made, 1, random.next(), random.next()),
            library.negotiateDescriptors(made, 0),
            Self.serviceName.withCString { library.setSender(made, $0) }, library.start(made),
        ]
        for step in steps where step < 0 { throw .code(step, "serve") }
    }

    /// Serves on a bus under a name.
    ///
    /// - Parameter replacing: Whether to take the name from a present owner that allows it.
    /// - Throws: ``BusError/nameTaken(_:)`` if somebody has the name and keeps it.
    package init(_ address: BusAddress, name: String, replacing: Bool) throws(BusError) {
        (library, bus) = try BusConnection(address).handOver()
        isOnBus = true
        try request(name, replacing: replacing)
    }

    /// Takes a further name on the bus.
    ///
    /// - Throws: ``BusError/nameTaken(_:)`` if somebody has the name and keeps it.
    package func request(_ name: String, replacing: Bool) throws(BusError) {
        // SD_BUS_NAME_REPLACE_EXISTING and SD_BUS_NAME_ALLOW_REPLACEMENT (systemd/sd-bus.h).
        let result = name.withCString { library.requestName(bus, $0, replacing ? 1 | 2 : 2) }
        guard result != -EEXIST else { throw .nameTaken(name) }
        guard result >= 0 else { throw .code(result, "RequestName") }
    }

    deinit {
        for message in early { _ = library.unref(message) }
        _ = library.closeUnref(bus)
    }

    /// Subscribes to the signals of the bus that match `rule`, in D-Bus's notation.
    package func listen(_ rule: String) throws(BusError) {
        let result = library.addMatch(bus, nil, rule, passOn, nil)
        guard result >= 0 else { throw .code(result, "AddMatch") }
    }

    /// Calls a method of the bus itself.
    package func askBus(_ member: String, _ arguments: [BusArgument]) throws(BusError) -> [BusValue] {
        try BusConnection.call(
            library, bus,
            BusTarget(
                service: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus"),
            member, arguments, .seconds(5))
    }

    /// Returns what comes next.
    ///
    /// - Parameters:
    ///   - wake: A descriptor that ends the waiting when it is readable.
    ///   - admit: Whether a message may take so many bytes. May wait.
    package func next(
        until deadline: ContinuousClock.Instant? = nil, wake: Int32 = -1, admit: (Int) -> Bool = { _ in true }
    ) throws(BusError) -> Event {
        while true {
            if !early.isEmpty {
                if let event = try event(early.removeFirst()) { return event }
                continue
            }
            var received: UnsafeMutableRawPointer?
            let waiting = waitingBytes
            if unfinished > 0 || waiting > 0, !isOnBus {
                guard unfinished + waiting <= Self.largestMessage + Self.socketBuffer, admit(unfinished + waiting)
                else { return .end }
            }
            let result = library.process(bus, &received)
            if result < 0 {
                let error = BusError.code(result, "serve")
                if case .noBus = error { return .end }
                throw error
            }
            if let received {
                unfinished = 0
                if let event = try event(received) { return event }
                continue
            }
            unfinished = min(unfinished + waiting, Self.largestMessage + 1 + Self.socketBuffer)
            if result > 0 { continue }
            guard try wait(library.events(bus), until: deadline, wake) else { return .pause }
        }
    }

    /// Takes a message over.
    private func event(_ message: UnsafeMutableRawPointer) throws(BusError) -> Event? {
        if library.isMethodCall(message, nil, nil) > 0 {
            let call = BusCall(message, library)
            if call.isWellFormed { return .call(call) }
            try refuse(call, "org.freedesktop.DBus.Error.InvalidArgs", "the arguments are malformed")
            return nil
        }
        defer { _ = library.unref(message) }
        return isOnBus ? BusSignal(message, library).map { .signal($0) } : nil
    }

    /// What a socket takes in before its other end reads.
    private static let socketBuffer = 512 << 10

    /// The connection's socket.
    package var descriptor: Int32 { library.descriptor(bus) }

    private var waitingBytes: Int {
        var count: Int32 = 0
        // FIONREAD (asm-generic/ioctls.h)
        return ioctl(descriptor, 0x541B, &count) == 0 ? Int(count) : 0
    }

    /// - Returns: False if the deadline passed or there is something in `wake`.
    private func wait(
        _ events: Int32, until deadline: ContinuousClock.Instant?, _ wake: Int32
    ) throws(BusError) -> Bool {
        var entries = [
            pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: max(0, events)), revents: 0),
            pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
        ]
        let ready = poll(&entries, 2, deadline.map(BusConnection.milliseconds(until:)) ?? -1)
        guard ready >= 0 || errno == EINTR else { throw .system(operation: "poll", errno: errno) }
        if entries[1].revents != 0 { return false }
        return deadline.map { ContinuousClock.now < $0 } ?? true
    }

    // MARK: Answers

    /// Answers a call.
    package func reply(to call: BusCall, _ values: [BusArgument], isSecret: Bool = false) throws(BusError) {
        guard call.expectsReply else { return }
        var made: UnsafeMutableRawPointer?
        let result = library.newReturn(call.message, &made)
        guard result >= 0, let made else { throw .code(result, "reply") }
        if isSecret { _ = library.setSensitive(made) }
        try send(made, values, "reply")
    }

    /// Answers a call with an error.
    package func refuse(_ call: BusCall, _ name: String, _ message: String) throws(BusError) {
        guard call.expectsReply else { return }
        var made: UnsafeMutableRawPointer?
        let result = name.withCString { name in
            message.withCString { message in
                var error = SDBusError(name: name, message: message)
                return library.newError(call.message, &made, &error)
            }
        }
        guard result >= 0, let made else { throw .code(result, "reply") }
        try send(made, [], "reply")
    }

    package func emit(_ signal: SentSignal) throws(BusError) {
        var made: UnsafeMutableRawPointer?
        let result = library.newSignal(bus, &made, signal.path, signal.interface, signal.member)
        guard result >= 0, let made else { throw .code(result, signal.member) }
        try send(made, signal.values, signal.member)
    }

    private func send(
        _ message: UnsafeMutableRawPointer, _ values: [BusArgument], _ operation: String
    ) throws(BusError) {
        defer { _ = library.unref(message) }
        for value in values {
            let result = library.append(value, to: message)
            guard result >= 0 else { throw .code(result, operation) }
        }
        let result = library.send(bus, message, nil)
        guard result >= 0 else { throw .code(result, operation) }
        try drain()
    }

    /// Waits until the other end has taken in what was sent. So what waits for a program that does not read is bounded.
    private func drain() throws(BusError) {
        let deadline = ContinuousClock.now + Self.patience
        var queued: UInt64 = 0
        while library.queuedToWrite(bus, &queued) >= 0, queued > 0 {
            guard isOnBus || early.count < Self.mostEarly else { throw .timedOut(member: "reply") }
            guard try wait(Int32(POLLOUT), until: deadline, -1) else { throw .timedOut(member: "reply") }
            var received: UnsafeMutableRawPointer?
            let result = library.process(bus, &received)
            guard result >= 0 else { throw .code(result, "reply") }
            if let received { early.append(received) }
        }
    }
}

/// A signal that a service sends.
package struct SentSignal: Sendable, Equatable {
    package var path: String
    package var interface: String
    package var member: String
    package var values: [BusArgument]

    package init(path: String, interface: String, member: String, values: [BusArgument]) {
        (self.path, self.interface, self.member, self.values) = (path, interface, member, values)
    }
}

/// What a program asks of a service.
package struct BusRequest: Sendable {
    package let path: String
    /// Empty if the caller names none.
    package let interface: String
    package let member: String
    /// The caller's name on the bus; empty without a bus.
    package let sender: String
    package let arguments: [BusValue]
}

/// A method call that a service got. For the connection's thread.
package final class BusCall {
    package let request: BusRequest
    fileprivate let message: UnsafeMutableRawPointer
    fileprivate let isWellFormed: Bool
    private let library: SDBus

    /// Takes the message over.
    fileprivate init(_ message: UnsafeMutableRawPointer, _ library: SDBus) {
        func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
        self.message = message
        self.library = library
        let values = library.readValues(message)
        isWellFormed = values != nil
        request = BusRequest(
            path: text(library.path(message)), interface: text(library.interface(message)),
            member: text(library.member(message)), sender: text(library.sender(message)), arguments: values ?? [])
    }

    fileprivate var expectsReply: Bool { library.expectsReply(message) > 0 }

    deinit { _ = library.unref(message) }
}
