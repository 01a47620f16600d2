import Access
import Connections
import Frames
import SystemBus
import VaultInterface
import VaultService

/// The Secret Service on a bus. All programs on the bus share one access group: a bus says no more of a program than
/// the number of its process.
// Safe to share between threads: after `init`, what changes is used by the thread alone that calls `run(until:)`.
package final class SecretBus: @unchecked Sendable {
    private let front: FrameSocket
    /// What the machine does not let the front process give up.
    package let missing: [String]
    private let server: VaultServer
    private let hub: SecretHub
    private let mailbox = Mailbox()
    private let lines: SecretLines
    private let incoming = FrameBuffer()
    private let outgoing = FrameBuffer()
    /// How long the front may take to read an answer, or to finish a report.
    private static let patience = Duration.seconds(10)

    /// - Parameters:
    ///   - address: In D-Bus's notation.
    ///   - replacing: Whether to take the service's names from owners that allow it.
    ///   - starter: Of the front process that speaks with the bus.
    /// - Throws: `FrontError`, such as if another program has a name.
    package init(
        _ address: String, replacing: Bool, server: VaultServer, _ hub: SecretHub, _ starter: FrontStarter
    ) throws(FrontError) {
        (front, missing) = try starter.link(
            to: address, names: [BusNames.secrets, PortalClient.busName], replacing: replacing,
            guardedPath: PortalClient.path, guardian: "org.freedesktop.portal.Desktop")
        (self.server, self.hub) = (server, hub)
        lines = SecretLines(mailbox, hub)
        mailbox.setGroups([SecretGuests.sharedGroup])
        mailbox.open()
    }

    /// Returns a function that wakes ``run(until:)``, so that it asks whether to stop. Safe on any thread.
    package var waker: @Sendable () -> Void { { [mailbox] in mailbox.wake() } }

    /// Why the serving ended.
    package enum End: Sendable {
        case stopped
        /// Another program took the name.
        case replaced
        case busIsGone
        /// No thread could be started.
        case noThread
    }

    /// Serves until the bus goes, or another program takes the name.
    ///
    /// - Parameter isStopped: Asked after each message and each call of ``waker``.
    package func run(until isStopped: () -> Bool) -> End {
        guard lines.start() else { return .noThread }
        hub.add(mailbox)
        defer {
            hub.remove(mailbox)
            lines.stop()
        }
        do {
            while !isStopped() {
                try sendWhatIsReady()
                lines.goOn(dueBefore: .now, isLockChanged: false)
                let deadline = lines.deadline ?? .now + .seconds(3_600)
                guard try front.waitForInput(until: deadline, interruption: mailbox.bell.descriptor) else { continue }
                try front.receiveFrame(
                    into: incoming, limit: FrontReport.longest, first: Self.patience, rest: Self.patience)
                let report = try FrontReport(incoming)
                incoming.recycle()
                switch report {
                case .call(let call): try take(call)
                case .left(let name): lines.remove(name)
                case .nameLost: return .replaced
                case .failed, .passed, .ready, .room, .taken: return .busIsGone
                }
            }
            return .stopped
        } catch {
            return .busIsGone
        }
    }

    /// Sends the answers and signals that are ready.
    private func sendWhatIsReady() throws(SocketError) {
        // An answer is sent before the signals that come after it.
        mailbox.beginTaking()
        var messages: [Mailbox.Message] = []
        while let message = mailbox.take() { messages.append(message) }
        for answered in lines.takeAnswers() { try send(FrontOrder(answered.number, answered.result)) }
        for message in messages {
            switch message {
            case .signal(let signal), .awaited(let signal): try send(.signal(signal))
            case .lockChange: lines.goOn(dueBefore: .now, isLockChanged: true)
            }
        }
    }

    private func send(_ order: FrontOrder) throws(SocketError) {
        order.encode(to: outgoing)
        defer { outgoing.recycle() }
        try front.send(outgoing, within: Self.patience)
    }

    private func take(_ call: FrontCall) throws(SocketError) {
        let request = call.request
        let isForPortal = request.path == PortalClient.path
        if !isForPortal {
            do throws(SecretServiceError) {
                try request.check()
            } catch {
                return try send(FrontOrder(call.number, .failure(error)))
            }
        }
        guard let arguments = call.arguments else {
            return try send(FrontOrder(call.number, .failure(.malformed)))
        }
        guard !isForPortal || !PortalClient.isProtected(request) || call.isOfGuardian else {
            return try send(
                .refusal(
                    call.number, name: "org.freedesktop.DBus.Error.AccessDenied",
                    message: "only xdg-desktop-portal knows which application asks"))
        }
        // Applications do not wait for each other.
        let application = isForPortal ? arguments.dropFirst().first?.string ?? "" : ""
        let line = isForPortal ? "portal \(application)" : request.sender
        let isTaken = lines.add(SecretCall(request: request, arguments: arguments), call.number, of: line) {
            isForPortal ? portal(for: application) : program(of: call.process)
        }
        guard !isTaken else { return }
        let error = SecretServiceError.limit("too many calls of this program, or too many programs, wait for answers")
        try send(FrontOrder(call.number, .failure(error)))
    }

    private func portal(for application: String) -> BusProgram {
        let (descriptor, server) = (front.descriptor, server)
        let client = PortalClient(hub) { group in
            GuestVault(
                identifier: "portal", process: nil, groups: [group], rights: [.list], socket: descriptor,
                server: server)
        }
        return BusProgram(
            // A negative number, which no process has.
            client: client, process: Int32(truncatingIfNeeded: application.hashValue) | .min, share: nil)
    }

    private func program(of process: Int32?) -> BusProgram {
        let program = process.flatMap { Peer.program(ofProcess: $0) }
        let vault = GuestVault(
            identifier: "bus:" + (program ?? "unknown"), process: process, groups: [SecretGuests.sharedGroup],
            rights: [.list, .unlock], socket: front.descriptor, server: server)
        let access = SecretAccess(
            session: { () throws(VaultError) in
                VaultSession(vault: vault, client: try vault.grant().client(claiming: [SecretGuests.sharedGroup]))
            },
            name: program ?? "a program on the bus")
        return BusProgram(client: SecretClient(access, hub, mailbox), process: process ?? 0, share: vault)
    }
}
