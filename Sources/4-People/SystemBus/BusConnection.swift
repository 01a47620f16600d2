import Bytes
import CLibrary

/// The address of a bus.
package enum BusAddress: Sendable, Equatable {
    /// The system's bus. As for every program, `$DBUS_SYSTEM_BUS_ADDRESS` can name another one.
    case system
    /// The system's bus at its fixed path. Ignores the environment.
    case systemSocket
    /// A bus at an address in D-Bus's notation, such as `unix:path=/run/bus`.
    case at(String)
}

/// A connection to a message bus, for one thread.
///
/// Nothing waits longer than its deadline. Calls block for at most their timeout.
package final class BusConnection {
    private let library: SDBus
    private let bus: UnsafeMutableRawPointer
    /// The connections of services.
    private var owners: [String: String] = [:]
    /// Whether somebody else has taken the library's connection over.
    private var isHandedOver = false

    /// - Parameter patience: The time that the bus has to answer.
    /// - Throws: ``BusError/libraryMissing(_:)`` without libsystemd, ``BusError/noBus(reason:)`` without a bus.
    package init(_ address: BusAddress, patience: Duration = .seconds(5)) throws(BusError) {
        switch SDBus.loaded {
        case .success(let library): self.library = library
        case .failure(let error): throw .libraryMissing(error)
        }
        bus = try Self.open(address, library)
        _ = library.setCallTimeout(bus, Self.microseconds(.seconds(5)))
        try greet(until: .now + patience)
    }

    /// Completes the bus's handshake with our deadline. Otherwise the library would wait for it without one.
    private func greet(until deadline: ContinuousClock.Instant) throws(BusError) {
        while library.isReady(bus) == 0 {
            var received: UnsafeMutableRawPointer?
            let result = library.process(bus, &received)
            if let received { _ = library.unref(received) }
            guard result >= 0 else { throw .code(result, "connect") }
            if result > 0 { continue }
            guard try wait(until: deadline, -1) else { throw .noBus(reason: "it does not answer") }
        }
    }

    deinit {
        if !isHandedOver { _ = library.closeUnref(bus) }
    }

    /// Gives the library's connection to somebody who closes it.
    func handOver() -> (SDBus, UnsafeMutableRawPointer) {
        isHandedOver = true
        return (library, bus)
    }

    private static func open(_ address: BusAddress, _ library: SDBus) throws(BusError) -> UnsafeMutableRawPointer {
        let text: String
        switch address {
        case .system:
            var opened: UnsafeMutableRawPointer?
            let result = library.openSystem(&opened)
            guard result >= 0, let opened else { throw .code(result, "connect") }
            return opened
        // The address of the system's bus in the D-Bus specification.
        case .systemSocket: text = "unix:path=/run/dbus/system_bus_socket"
        case .at(let address): text = address
        }
        var made: UnsafeMutableRawPointer?
        let result = library.new(&made)
        guard result >= 0, let made else { throw .code(result, "connect") }
        for step in [
            text.withCString { library.setAddress(made, $0) }, library.setBusClient(made, 1), library.start(made),
        ] where step < 0 {
            _ = library.closeUnref(made)
            throw .code(step, "connect")
        }
        return made
    }

    /// Calls a method and waits for its answer.
    ///
    /// - Returns: The values of the answer.
    @discardableResult
    package func call(
        _ target: BusTarget, _ member: String, _ arguments: [BusArgument] = [], timeout: Duration = .seconds(5)
    ) throws(BusError) -> [BusValue] {
        let reply = try Self.send(library, bus, target, member, arguments, timeout)
        defer { _ = library.unref(reply) }
        guard let values = library.readValues(reply) else { throw .unexpectedAnswer(member: member) }
        return values
    }

    /// Returns the number of the process that has a name on the bus; nil if none has it.
    package func process(owning name: String) throws(BusError) -> Int32? {
        let isOwned = try call(.bus, "NameHasOwner", [.string(name)]).first?.boolean ?? false
        guard isOwned else { return nil }
        let number = try call(.bus, "GetConnectionUnixProcessID", [.string(name)]).first?.unsigned
        return number.flatMap { Int32(exactly: $0) }
    }

    /// Calls a method that answers with a file descriptor. The caller closes the descriptor.
    package func callForDescriptor(
        _ target: BusTarget, _ member: String, _ arguments: [BusArgument], timeout: Duration = .seconds(5)
    ) throws(BusError) -> Int32 {
        guard case .descriptor(let descriptor)? = try call(target, member, arguments, timeout: timeout).first else {
            throw .unexpectedAnswer(member: member)
        }
        let copy = fcntl(descriptor.number, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw .system(operation: member, errno: errno) }
        return copy
    }

    private static func send(
        _ library: SDBus, _ bus: UnsafeMutableRawPointer, _ target: BusTarget, _ member: String,
        _ arguments: [BusArgument], _ timeout: Duration
    ) throws(BusError) -> UnsafeMutableRawPointer {
        var made: UnsafeMutableRawPointer?
        let result = library.newMethodCall(bus, &made, target.service, target.path, target.interface, member)
        guard result >= 0, let message = made else { throw .code(result, member) }
        defer { _ = library.unref(message) }
        for argument in arguments {
            let result = library.append(argument, to: message)
            guard result >= 0 else { throw .code(result, member) }
        }
        var error = SDBusError()
        defer { library.freeError(&error) }
        var reply: UnsafeMutableRawPointer?
        let answered = library.call(bus, message, microseconds(timeout), &error, &reply)
        guard answered >= 0, let reply else { throw failure(answered, error, target, member) }
        return reply
    }

    private static func failure(_ code: Int32, _ error: SDBusError, _ target: BusTarget, _ member: String) -> BusError {
        guard let name = error.name.map({ String(cString: $0) }) else { return .code(code, member) }
        switch name {
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner":
            return .noService(target.service)
        case "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Timeout",
            "org.freedesktop.DBus.Error.TimedOut":
            return .timedOut(member: member)
        case "org.freedesktop.DBus.Error.Disconnected":
            return .noBus(reason: "it went away")
        default:
            // The bus could not start the service.
            if name.hasPrefix("org.freedesktop.DBus.Error.Spawn.") { return .noService(target.service) }
            return .refused(name: name, message: error.message.map { String(cString: $0) } ?? "")
        }
    }

    /// Subscribes to the signals that match `rule`, in D-Bus's notation.
    package func listen(_ rule: String) throws(BusError) {
        let result = library.addMatch(bus, nil, rule, passOn, nil)
        guard result >= 0 else { throw .code(result, "AddMatch") }
    }

    /// Returns the next signal of a service or of the bus itself.
    ///
    /// Every program on a bus can send signals to this connection, whatever it subscribes to. So those of others are
    /// left out.
    ///
    /// - Parameters:
    ///   - service: The name of the service on the bus.
    ///   - deadline: The end of the waiting; nil for no end.
    ///   - interruption: A descriptor that ends the waiting when it is readable.
    /// - Returns: Nil if the deadline passed or the waiting was interrupted.
    package func nextSignal(
        from service: String, until deadline: ContinuousClock.Instant?, interruption: Int32 = -1
    ) throws(BusError) -> BusSignal? {
        while true {
            var received: UnsafeMutableRawPointer?
            let result = library.process(bus, &received)
            guard result >= 0 else { throw .code(result, "receive") }
            if let received {
                defer { _ = library.unref(received) }
                if let signal = BusSignal(received, library), isSent(signal, by: service) { return signal }
                continue
            }
            if result > 0 { continue }
            guard try wait(until: deadline, interruption) else { return nil }
        }
    }

    private func isSent(_ signal: BusSignal, by service: String) -> Bool {
        if signal.sender == BusTarget.bus.service || owners[service] == signal.sender { return true }
        // The bus gives no name to two connections, so an old answer is right about what it names.
        owners[service] = try? call(.bus, "GetNameOwner", [.string(service)]).first?.string
        return owners[service] == signal.sender
    }

    /// - Returns: False if the waiting is over.
    private func wait(until deadline: ContinuousClock.Instant?, _ interruption: Int32) throws(BusError) -> Bool {
        let events = library.events(bus)
        guard events >= 0 else { throw .code(events, "receive") }
        var entries = [
            pollfd(fd: library.descriptor(bus), events: Int16(truncatingIfNeeded: events), revents: 0),
            pollfd(fd: interruption, events: Int16(truncatingIfNeeded: POLLIN), revents: 0),
        ]
        // The library's own timeouts are for asynchronous calls, which this class does not make.
        let ready = poll(&entries, 2, deadline.map { Self.milliseconds(until: $0) } ?? -1)
        guard ready >= 0 || errno == EINTR else { throw .system(operation: "poll", errno: errno) }
        if entries[1].revents != 0 { return false }
        if let deadline, ContinuousClock.now >= deadline { return false }
        return true
    }

    static func milliseconds(until deadline: ContinuousClock.Instant) -> Int32 {
        let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
        return Int32(clamping: Int64(clamping: max(0, min(left.rounded(.up), 86_400_000))))
    }

    private static func microseconds(_ duration: Duration) -> UInt64 {
        // Zero would mean the library's default.
        UInt64(clamping: max(1, min(duration / .microseconds(1), 86_400_000_000)))
    }
}

/// Leaves the message for the next call of `process`.
func passOn(
    _ message: UnsafeMutableRawPointer?, _ data: UnsafeMutableRawPointer?, _ error: UnsafeMutableRawPointer?
) -> Int32 { 0 }

/// An interface of an object of a service.
package struct BusTarget: Sendable, Equatable {
    package var service: String
    package var path: String
    package var interface: String

    package init(service: String, path: String, interface: String) {
        self.service = service
        self.path = path
        self.interface = interface
    }

    /// The bus itself.
    static let bus = BusTarget(
        service: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus")
}

/// A signal that came from a bus.
package struct BusSignal: Sendable, Equatable {
    /// The connection that sent it, as the bus says. Empty without a bus.
    package var sender: String
    /// The object that it is about.
    package var path: String
    package var interface: String
    /// The signal's name.
    package var member: String
    /// The arguments.
    package var values: [BusValue]

    /// Nil for a message that is no signal of a subscription.
    init?(_ message: UnsafeMutableRawPointer, _ library: SDBus) {
        guard let path = library.path(message), let interface = library.interface(message),
            let member = library.member(message).map({ String(cString: $0) }),
            // The bus sends every connection its own name, without a subscription.
            member != "NameAcquired", let values = library.readValues(message)
        else { return nil }
        sender = library.sender(message).map { String(cString: $0) } ?? ""
        (self.path, self.interface) = (String(cString: path), String(cString: interface))
        (self.member, self.values) = (member, values)
    }
}
