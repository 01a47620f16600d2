import Bytes
import CLibrary

/// A service's connection: to one program with no bus between them, or to a bus. For one thread.
///
/// Without a bus, the program believes that the service is the bus. The owner of this value therefore answers the calls
/// to the bus, too. Nothing here waits for a program.
final class BusPeer {
    enum Event {
        /// A program's call, which wants an answer.
        case call(BusCall)
        /// A signal of the bus itself. Every program on a bus can send others to this connection; they are left out.
        case signal(BusSignal)
        /// A message that needs nothing more, such as a ping, which the library answers, or a signal of a program.
        case done
        /// Nothing has come.
        case pause
        /// The message that is arriving may not take more bytes now.
        case full
        /// The other end has closed the connection, or broken the rules.
        case end
    }

    private let library: SDBus
    private let bus: UnsafeMutableRawPointer
    /// Where the library reads what a program sends; nil on a bus.
    private let intake: Intake?
    private var isOnBus: Bool { intake == nil }
    /// Messages that were received while an answer was being sent.
    private var early: [UnsafeMutableRawPointer] = []

    /// The longest message that is taken from a program without a bus, in bytes: a secret of 2 MiB, and what comes with
    /// it.
    private static let largestMessage = (2 << 20) + Intake.portion
    /// What the kernel holds for a program that does not read, in bytes.
    private static let sendBuffer: Int32 = 128 << 10

    /// Serves a program without a bus.
    ///
    /// - Parameter descriptor: A connected socket, which belongs to the connection from now on.
    init(_ descriptor: Int32) throws(BusError) {
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
        guard let (intake, end) = Intake.make(from: descriptor) else {
            let code = errno
            close(descriptor)
            _ = library.closeUnref(made)
            throw .system(operation: "serve", errno: code)
        }
        (self.library, bus, self.intake) = (library, made, intake)
        var random = SystemRandomNumberGenerator()
        let steps = [
            library.setDescriptors(made, end, descriptor),
            // The library sees our own socket, and cannot check the program's user. The owner of this value knows it.
            library.setAnonymous(made, 1),
            library.setServer(made, 1, random.next(), random.next()),
            library.negotiateDescriptors(made, 0),
            BusFront.serviceName.withCString { library.setSender(made, $0) },
            library.addFilter(made, nil, countMessage, Unmanaged.passUnretained(intake).toOpaque()),
            library.start(made),
        ]
        for step in steps where step < 0 { throw .code(step, "serve") }
        // The library asks for 8 MiB, which the kernel would hold for each program that does not read.
        var size = Self.sendBuffer
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(clamping: MemoryLayout<Int32>.size))
    }

    /// Serves on a bus under a name.
    ///
    /// - Parameter replacing: Whether to take the name from a present owner that allows it.
    /// - Throws: ``BusError/nameTaken(_:)`` if somebody has the name and keeps it.
    init(_ address: BusAddress, name: String, replacing: Bool) throws(BusError) {
        (library, bus) = try BusConnection(address).handOver()
        intake = nil
        try request(name, replacing: replacing)
    }

    /// Takes a further name on the bus.
    ///
    /// - Throws: ``BusError/nameTaken(_:)`` if somebody has the name and keeps it.
    func request(_ name: String, replacing: Bool) throws(BusError) {
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
    func listen(_ rule: String) throws(BusError) {
        let result = library.addMatch(bus, nil, rule, passOn, nil)
        guard result >= 0 else { throw .code(result, "AddMatch") }
    }

    /// Returns what comes next, if it is there.
    ///
    /// - Parameter admit: Whether a message may take so many bytes.
    func next(admit: (Int) -> Bool = { _ in true }) throws(BusError) -> Event {
        while true {
            if !early.isEmpty {
                if let event = try event(early.removeFirst()) { return event }
                continue
            }
            var received: UnsafeMutableRawPointer?
            let result = library.process(bus, &received)
            if result < 0 {
                let error = BusError.code(result, "serve")
                if case .noBus = error { return .end }
                throw error
            }
            let isMessage = intake?.isMessageRead() ?? false
            if let received {
                if let event = try event(received) { return event }
                continue
            }
            if isMessage { return .done }
            if result > 0 { continue }
            if let intake {
                let bytes = intake.unfinished + intake.waiting
                guard intake.unfinished <= Self.largestMessage else { return .end }
                guard admit(bytes) else { return .full }
                switch try intake.take() {
                case .taken: continue
                case .nothing: break
                case .end: return .end
                }
            }
            return .pause
        }
    }

    /// Whether something that was sent waits for the other end to read.
    var hasUnsent: Bool {
        var queued: UInt64 = 0
        return library.queuedToWrite(bus, &queued) >= 0 && queued > 0
    }

    /// Sends what waits, as far as the other end takes it in now.
    func flush() throws(BusError) {
        while hasUnsent {
            var received: UnsafeMutableRawPointer?
            let result = library.process(bus, &received)
            guard result >= 0 else { throw .code(result, "reply") }
            if let received { early.append(received) }
            guard result > 0 else { return }
        }
    }

    /// Whether the library waits for room to send something, be it a part of the greeting.
    var awaitsRoom: Bool { library.events(bus) & Int32(POLLOUT) != 0 }

    /// Whether the program has sent something that was not read.
    var hasUnread: Bool { (intake?.waiting ?? 0) > 0 }

    /// Returns the event for a message, which it owns from now on.
    private func event(_ message: UnsafeMutableRawPointer) throws(BusError) -> Event? {
        if library.isMethodCall(message, nil, nil) > 0 {
            return .call(BusCall(message, library))
        }
        defer { _ = library.unref(message) }
        guard isOnBus else { return .done }
        guard let signal = BusSignal(message, library), signal.sender == BusTarget.bus.service,
            signal.interface == BusTarget.bus.interface
        else { return nil }
        return .signal(signal)
    }

    /// The connection's socket.
    var descriptor: Int32 { intake?.socket ?? library.descriptor(bus) }

    // MARK: Answers

    /// Answers a call. If a value does not fit into a message, such as a path with a space, the caller gets an error.
    func reply(to call: BusCall, _ values: [BusArgument], isSecret: Bool = false) throws(BusError) {
        guard call.expectsReply else { return }
        var made: UnsafeMutableRawPointer?
        let result = library.newReturn(call.message, &made)
        guard result >= 0, let made else { throw .code(result, "reply") }
        if isSecret { _ = library.setSensitive(made) }
        for value in values where library.append(value, to: made) < 0 {
            _ = library.unref(made)
            return try refuse(call, "org.freedesktop.DBus.Error.Failed", "the answer does not fit into a message")
        }
        try send(made, "reply")
    }

    /// Answers a call with an error.
    func refuse(_ call: BusCall, _ name: String, _ message: String) throws(BusError) {
        guard call.expectsReply else { return }
        var made: UnsafeMutableRawPointer?
        let result = name.withCString { name in
            message.withCString { message in
                var error = SDBusError(name: name, message: message)
                return library.newError(call.message, &made, &error)
            }
        }
        guard result >= 0, let made else { throw .code(result, "reply") }
        try send(made, "reply")
    }

    /// Sends a signal. One that cannot be made is left out.
    func emit(_ signal: SentSignal) throws(BusError) {
        var made: UnsafeMutableRawPointer?
        let result = library.newSignal(bus, &made, signal.path, signal.interface, signal.member)
        guard result >= 0, let made else { return }
        for value in signal.values where library.append(value, to: made) < 0 {
            _ = library.unref(made)
            return
        }
        try send(made, signal.member, to: isOnBus ? signal.destination : "")
    }

    /// Sends a message, which it owns from now on.
    ///
    /// - Parameter destination: A name on the bus; empty for all that listen, or for the caller.
    private func send(
        _ message: UnsafeMutableRawPointer, _ operation: String, to destination: String = ""
    ) throws(BusError) {
        defer { _ = library.unref(message) }
        let result =
            destination.isEmpty
            ? library.send(bus, message, nil)
            : destination.withCString { library.sendTo(bus, message, $0, nil) }
        guard result >= 0 else { throw .code(result, operation) }
        try flush()
    }
}

/// What a program without a bus sends, on its way to the library.
///
/// The library reads a message of up to 128 MiB as fast as the program writes it. So it reads from a socket of ours,
/// which is filled in portions, and not from the program's.
private final class Intake {
    /// The most that the library gets at once, in bytes.
    static let portion = 64 << 10

    let socket: Int32
    private let (feed, end): (Int32, Int32)
    /// The bytes that the library has got of the message that is arriving.
    private(set) var unfinished = 0
    /// The messages that the library has read since the last look.
    fileprivate var messages = 0

    enum Outcome {
        case taken, nothing, end
    }

    /// - Returns: With the end for the library, which closes it; nil if there is no further descriptor.
    static func make(from socket: Int32) -> (Intake, end: Int32)? {
        var ends: [Int32] = [-1, -1]
        let type = Int32(truncatingIfNeeded: SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { return nil }
        return (Intake(socket, feed: ends[0], end: ends[1]), ends[1])
    }

    private init(_ socket: Int32, feed: Int32, end: Int32) { (self.socket, self.feed, self.end) = (socket, feed, end) }

    deinit { close(feed) }

    /// How many bytes the next portion has.
    var waiting: Int { min(Self.portion, Self.unread(socket)) }

    /// Whether the library has read a whole message since the last look.
    func isMessageRead() -> Bool {
        guard messages > 0 else { return false }
        messages = 0
        unfinished = Self.unread(end)
        return true
    }

    /// Gives the library the next portion. It has read the one before.
    func take() throws(BusError) -> Outcome {
        try withUnsafeTemporaryAllocation(byteCount: Self.portion, alignment: 1) { buffer in
            Result { () throws(BusError) in try take(through: buffer) }
        }.get()
    }

    private func take(through buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Outcome {
        let count = recv(socket, buffer.baseAddress, buffer.count, Int32(truncatingIfNeeded: MSG_DONTWAIT))
        guard count > 0 else {
            guard count < 0 else { return .end }
            if errno == EAGAIN || errno == EINTR { return .nothing }
            return .end
        }
        // It may have a secret in it.
        defer { SecretBytes.wipe(UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])) }
        // An empty socket has room for a portion.
        guard write(feed, buffer.baseAddress, count) == count else { throw .system(operation: "serve", errno: errno) }
        unfinished += count
        return .taken
    }

    private static func unread(_ socket: Int32) -> Int {
        var count: Int32 = 0
        // FIONREAD (asm-generic/ioctls.h)
        return ioctl(socket, 0x541B, &count) == 0 ? Int(count) : 0
    }
}

/// The library calls this for each message, before it does anything with it. The connection keeps the ``Intake`` for as
/// long as the library's.
private func countMessage(
    _ message: UnsafeMutableRawPointer?, _ intake: UnsafeMutableRawPointer?, _ error: UnsafeMutableRawPointer?
) -> Int32 {
    if let intake { Unmanaged<Intake>.fromOpaque(intake).takeUnretainedValue().messages += 1 }
    return 0
}

/// A signal that a service sends.
package struct SentSignal: Sendable, Equatable {
    /// The object that it is about.
    package var path: String
    package var interface: String
    /// The signal's name.
    package var member: String
    /// The arguments.
    package var values: [BusArgument]
    /// The name of the only program on a bus that gets it; empty for all that listen.
    package var destination = ""

    package init(path: String, interface: String, member: String, values: [BusArgument]) {
        (self.path, self.interface, self.member, self.values) = (path, interface, member, values)
    }
}

/// What a program asks of a service.
package struct BusRequest: Sendable {
    /// The object that is asked.
    package let path: String
    /// Empty if the caller names none.
    package let interface: String
    /// The method's name.
    package let member: String
    /// The caller's name on the bus; empty without a bus.
    package let sender: String
    /// The types of the arguments, in D-Bus's notation.
    package let signature: String

    package init(path: String, interface: String, member: String, sender: String, signature: String) {
        (self.path, self.interface, self.member) = (path, interface, member)
        (self.sender, self.signature) = (sender, signature)
    }
}

/// A method call that a service got. For the connection's thread.
final class BusCall {
    let request: BusRequest
    /// The file that is among the arguments, once they are read.
    var descriptor: BusDescriptor?
    fileprivate let message: UnsafeMutableRawPointer
    private let library: SDBus

    /// Takes the message over.
    fileprivate init(_ message: UnsafeMutableRawPointer, _ library: SDBus) {
        func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
        self.message = message
        self.library = library
        request = BusRequest(
            path: text(library.path(message)), interface: text(library.interface(message)),
            member: text(library.member(message)), sender: text(library.sender(message)),
            signature: text(library.signature(message, 1)))
    }

    /// Reads the arguments; nil if they are malformed, or more than `most` values. Call it once.
    func arguments(most: Int) -> [BusValue]? { library.readValues(message, most: most) }

    fileprivate var expectsReply: Bool { library.expectsReply(message) > 0 }

    deinit { _ = library.unref(message) }
}
