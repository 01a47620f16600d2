import CLibrary
import FoundationEssentials
import Frames

/// A front process's connection with the process that started it.
final class FrontLink {
    let socket: FrameSocket
    private let incoming = FrameBuffer()
    private let outgoing = FrameBuffer()
    private var sent = 0
    /// Above this many bytes that wait here, no further message is read.
    private static let mostUnsent = 1 << 20

    init(_ descriptor: Int32) { socket = FrameSocket(descriptor) }

    var hasUnsent: Bool { outgoing.count > 0 }
    var isFull: Bool { outgoing.count > Self.mostUnsent }

    func report(_ report: FrontReport) { report.encode(to: outgoing) }

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

extension BusCall {
    /// Reads the call for the other process. Call it once.
    func read(_ number: UInt32 = 0) -> FrontCall {
        // A list of objects may be long.
        let arguments = arguments(most: request.signature.hasPrefix("ao") ? 32_768 : 4_096)
        for case .descriptor(let descriptor) in arguments ?? [] { self.descriptor = descriptor }
        return FrontCall(number: number, request: request, arguments: arguments)
    }

    /// Writes bytes into the descriptor among the arguments.
    ///
    /// - Returns: What went wrong.
    fileprivate func write(_ bytes: Data) -> String? {
        guard let descriptor else { return "there is no file among the arguments" }
        var polled = pollfd(fd: descriptor.number, events: Int16(truncatingIfNeeded: POLLOUT), revents: 0)
        // A new pipe takes it all at once.
        guard poll(&polled, 1, 1_000) == 1 else { return "the file takes nothing in" }
        let isWhole = bytes.withUnsafeBytes { CLibrary.write(descriptor.number, $0.baseAddress, $0.count) == $0.count }
        return isWhole ? nil : "the file took only a part of the secret"
    }
}
