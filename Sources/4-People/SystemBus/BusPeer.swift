import CLibrary
import SystemLibraries

/// A service's end of a connection to one program, with no bus between them. For one thread.
///
/// The program takes the service for a bus. Whoever has this value answers the calls that a bus answers, too.
package final class BusPeer {
    private let library: SDBus
    private let bus: UnsafeMutableRawPointer
    /// The name under which the program sees the service.
    package static let serviceName = ":1.0"

    /// - Parameter descriptor: A connected socket, which belongs to the connection from now on.
    package init(_ descriptor: Int32) throws(BusError) {
        switch SDBus.loaded {
        case .success(let library): self.library = library
        case .failure(let error): throw .libraryMissing(error)
        }
        var made: UnsafeMutableRawPointer?
        let result = library.new(&made)
        guard result >= 0, let made else {
            close(descriptor)
            throw .code(result, "serve")
        }
        bus = made
        var random = SystemRandomNumberGenerator()
        let steps = [
            library.setDescriptors(made, descriptor, descriptor),
            library.setServer(made, 1, random.next(), random.next()),
            Self.serviceName.withCString { library.setSender(made, $0) }, library.start(made),
        ]
        for step in steps where step < 0 { throw .code(step, "serve") }
    }

    deinit { _ = library.closeUnref(bus) }

    /// Returns the next call; nil when the program has closed the connection, or when `interruption` is readable.
    package func next(interruption: Int32) throws(BusError) -> BusCall? {
        while true {
            var received: UnsafeMutableRawPointer?
            let result = library.process(bus, &received)
            if result < 0 {
                let error = BusError.code(result, "serve")
                if case .noBus = error { return nil }
                throw error
            }
            if let received {
                if library.isMethodCall(received, nil, nil) > 0, let call = BusCall(received, library) { return call }
                _ = library.unref(received)
                continue
            }
            if result > 0 { continue }
            var entries = [
                pollfd(
                    fd: library.descriptor(bus), events: Int16(truncatingIfNeeded: max(0, library.events(bus))),
                    revents: 0),
                pollfd(fd: interruption, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&entries, 2, -1) >= 0 || errno == EINTR else { throw .system(operation: "poll", errno: errno) }
            if entries[1].revents != 0 { return nil }
        }
    }

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

    package func emit(
        _ path: String, _ interface: String, _ member: String, _ values: [BusArgument]
    ) throws(BusError) {
        var made: UnsafeMutableRawPointer?
        let result = library.newSignal(bus, &made, path, interface, member)
        guard result >= 0, let made else { throw .code(result, member) }
        try send(made, values, member)
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
    }
}

/// A method call that a service got.
package final class BusCall {
    fileprivate let message: UnsafeMutableRawPointer
    private let library: SDBus
    package let path: String
    /// Empty if the caller names none.
    package let interface: String
    package let member: String
    package let arguments: [BusValue]

    /// Takes the message over. Nil, without taking it, if its contents are malformed.
    fileprivate init?(_ message: UnsafeMutableRawPointer, _ library: SDBus) {
        guard let path = library.path(message), let member = library.member(message),
            let arguments = library.readValues(message)
        else { return nil }
        self.message = message
        self.library = library
        self.path = String(cString: path)
        interface = library.interface(message).map { String(cString: $0) } ?? ""
        self.member = String(cString: member)
        self.arguments = arguments
    }

    fileprivate var expectsReply: Bool { library.expectsReply(message) > 0 }

    deinit { _ = library.unref(message) }
}
