import CLibrary
import FoundationEssentials
import Frames

/// A front process's connection with the process that started it.
final class FrontLink {
    let socket: FrameSocket
    private let incoming = FrameBuffer()
    private let outgoing = FrameBuffer()
    private var sent = 0

    init(_ descriptor: Int32) { socket = FrameSocket(descriptor) }

    var hasUnsent: Bool { outgoing.count > 0 }
    /// The bytes in memory for the other end. What is sent stays there until all is.
    var held: Int { outgoing.count }

    func report(_ report: FrontReport) { report.encode(to: outgoing) }

    /// Reports a call.
    ///
    /// - Returns: The bytes of the report; nil if the call is too long for one.
    func report(_ call: FrontCall) -> Int? {
        let before = outgoing.count
        FrontReport.call(call).encode(to: outgoing)
        let length = outgoing.count - before
        if length - 4 <= FrontReport.longest { return length }
        outgoing.removeLast(length)
        return nil
    }

    /// Sends what waits, as far as the other end takes it in now.
    func flush() throws(SocketError) {
        guard hasUnsent, try socket.sendAvailable(outgoing, &sent) else { return }
        outgoing.recycle()
        sent = 0
    }

    /// Returns the next order, if it has come.
    ///
    /// - Returns: With whether it is long, so that the other end wants to know when it is done.
    func next() throws(SocketError) -> (order: FrontOrder, isLong: Bool)? {
        guard case .frame = try socket.receiveAvailableFrame(into: incoming, limit: FrontOrder.longest) else {
            return nil
        }
        defer { incoming.recycle() }
        do {
            return (try FrontOrder(incoming), incoming.count > FrameSocket.longFrame)
        } catch {
            throw .malformed(error)
        }
    }
}

extension BusPeer {
    /// Does what an order says about a call.
    func answer(_ call: BusCall, _ order: FrontOrder) throws(BusError) {
        switch order {
        case .answer(_, let values, let isSecret, let written):
            if let written, let reason = call.write(written) {
                return try refuse(call, "org.freedesktop.DBus.Error.InvalidArgs", reason)
            }
            try reply(to: call, values, isSecret: isSecret)
        case .refusal(_, let name, let message): try refuse(call, name, message)
        case .signal, .goOn: break
        }
    }
}

extension BusPeer {
    /// Refuses a call that is longer than any that the service has an answer to.
    func refuseLong(_ call: BusCall) throws(BusError) {
        try refuse(
            call, "org.freedesktop.DBus.Error.LimitsExceeded", "the message is too long: a secret has up to 2 MiB")
    }

    /// The events to wait for, in the notation of poll(2).
    static func events(input: Bool, output: Bool) -> Int16 {
        Int16(truncatingIfNeeded: (input ? POLLIN : 0) | (output ? POLLOUT : 0))
    }
}

extension BusCall {
    /// Whether the arguments are a list of objects, which may be long.
    var hasList: Bool { request.signature.hasPrefix("ao") }

    /// Reads the call for the other process. Call it once.
    func read(_ number: UInt32 = 0) -> FrontCall {
        let arguments = arguments(most: hasList ? 32_768 : 4_096)
        for case .descriptor(let descriptor) in arguments ?? [] { self.descriptor = descriptor }
        return FrontCall(number: number, request: request, arguments: arguments)
    }

    /// Writes bytes into the descriptor among the arguments.
    ///
    /// - Returns: What went wrong.
    fileprivate func write(_ bytes: Data) -> String? {
        guard let descriptor else { return "there is no file among the arguments" }
        // Nothing waits here: a pipe that can be written to takes in what is no longer than PIPE_BUF (pipe(7)).
        var info = stat()
        guard fstat(descriptor.number, &info) == 0, info.st_mode & S_IFMT == S_IFIFO, bytes.count <= 4_096 else {
            return "the file is not a pipe"
        }
        var polled = pollfd(fd: descriptor.number, events: Int16(truncatingIfNeeded: POLLOUT), revents: 0)
        guard poll(&polled, 1, 0) == 1 else { return "the pipe is full" }
        let isWhole = bytes.withUnsafeBytes { CLibrary.write(descriptor.number, $0.baseAddress, $0.count) == $0.count }
        return isWhole ? nil : "the pipe took only a part of the secret"
    }
}
