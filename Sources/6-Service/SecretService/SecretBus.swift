import Access
import SystemBus
import VaultInterface
import VaultService

/// The Secret Service on a bus. All programs on the bus share one access group: a bus says no more of a program than
/// the number of its process.
// Safe to share between threads: after `init`, what changes is used by the thread alone that calls `run(until:)`.
package final class SecretBus: @unchecked Sendable {
    private let peer: BusPeer
    private let server: VaultServer
    private let hub: SecretHub
    private let mailbox = Mailbox()
    private let lines: SecretLines
    /// The calls that are being answered, by their numbers.
    private var calls: [Int: BusCall] = [:]
    private var lastCall = 0

    /// - Parameter replacing: Whether to take the service's name from an owner that allows it.
    /// - Throws: ``BusError/nameTaken(_:)`` if another program has it.
    package init(
        _ address: String, replacing: Bool, server: VaultServer, _ hub: SecretHub
    ) throws(BusError) {
        peer = try BusPeer(.at(address), name: BusNames.secrets, replacing: replacing)
        try peer.request(PortalClient.busName, replacing: replacing)
        (self.server, self.hub) = (server, hub)
        lines = SecretLines(mailbox, hub)
        mailbox.setGroups([SecretGuests.sharedGroup])
        mailbox.open()
        // Tells when a program leaves the bus.
        try peer.listen(
            "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',member='NameOwnerChanged',"
                + "arg2=''")
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
        do throws(BusError) {
            while !isStopped() {
                // An answer is sent before the signals that come after it.
                mailbox.beginTaking()
                var messages: [Mailbox.Message] = []
                while let message = mailbox.take() { messages.append(message) }
                for answered in lines.takeAnswers() {
                    if let call = calls.removeValue(forKey: answered.number) {
                        try peer.reply(to: call, with: answered.result)
                    }
                }
                for message in messages {
                    switch message {
                    case .signal(let signal), .awaited(let signal): try peer.emit(signal)
                    case .lockChange: lines.lookAtPrompts(dueBefore: nil)
                    }
                }
                lines.lookAtPrompts(dueBefore: .now)
                switch try peer.next(until: lines.deadline, wake: mailbox.bell.descriptor) {
                case .call(let call): try take(call)
                case .signal(let signal):
                    if signal.member == "NameLost", signal.values.first?.string == BusNames.secrets { return .replaced }
                    if signal.member == "NameOwnerChanged", let name = signal.values.first?.string {
                        for number in lines.remove(name) { calls[number] = nil }
                    }
                case .done, .pause, .full: break
                case .end: return .busIsGone
                }
            }
            return .stopped
        } catch {
            return .busIsGone
        }
    }

    private func take(_ call: BusCall) throws(BusError) {
        let sender = call.request.sender
        let isForPortal = call.request.path == PortalClient.path
        let request = call.request
        if !isForPortal {
            do throws(SecretServiceError) {
                try request.check()
            } catch {
                return try peer.reply(to: call, with: .failure(error))
            }
        }
        guard let arguments = call.arguments(most: request.mostValues) else {
            return try peer.reply(to: call, with: .failure(.malformed))
        }
        guard !isForPortal || !PortalClient.isProtected(call.request) || isPortal(sender) else {
            return try peer.refuse(
                call, "org.freedesktop.DBus.Error.AccessDenied", "only xdg-desktop-portal knows which application asks")
        }
        lastCall += 1
        calls[lastCall] = call
        // Applications do not wait for each other.
        let application = isForPortal ? arguments.dropFirst().first?.string ?? "" : ""
        let line = isForPortal ? "portal \(application)" : sender
        let isTaken = lines.add(SecretCall(request: request, arguments: arguments), lastCall, of: line) {
            let process = process(of: sender)
            if isForPortal {
                let (descriptor, server) = (peer.descriptor, server)
                let client = PortalClient(hub) { group in
                    GuestVault(
                        identifier: "portal", process: nil, groups: [group], rights: [.list], socket: descriptor,
                        server: server)
                }
                return (client, Int32(truncatingIfNeeded: application.hashValue) | .min)
            }
            return (client(of: process), process ?? 0)
        }
        guard !isTaken else { return }
        calls[lastCall] = nil
        let error = SecretServiceError.limit("too many calls of this program, or too many programs, wait for answers")
        try peer.reply(to: call, with: .failure(error))
    }

    private func process(of sender: String) -> Int32? {
        let number = (try? peer.callBus("GetConnectionUnixProcessID", [.string(sender)]))?.first?.unsigned
        return number.flatMap { Int32(exactly: $0) }
    }

    private func isPortal(_ sender: String) -> Bool {
        let owner = try? peer.callBus("GetNameOwner", [.string("org.freedesktop.portal.Desktop")])
        return owner?.first?.string == sender
    }

    private func client(of process: Int32?) -> SecretClient {
        let program = process.flatMap { Peer.program(ofProcess: $0) }
        let vault = GuestVault(
            identifier: "bus:" + (program ?? "unknown"), process: process, groups: [SecretGuests.sharedGroup],
            rights: [.list, .unlock], socket: peer.descriptor, server: server)
        let access = SecretAccess(
            session: { () throws(VaultError) in
                VaultSession(vault: vault, client: try vault.grant().client(claiming: [SecretGuests.sharedGroup]))
            },
            name: program ?? "a program on the bus")
        return SecretClient(access, hub, mailbox)
    }
}
