import Access
import CLibrary
import Connections
import Frames
import VaultInterface

/// A socket that programs of this user take for their session bus, with the Secret Service on it and nothing else.
package final class SecretServiceSocket: Sendable {
    /// For `DBUS_SESSION_BUS_ADDRESS`.
    package let address: String
    private let listener: Int32
    private let loop: ConnectionLoop
    private let session: VaultSession
    private let hub = SecretHub()
    private let fronts: SecretFronts

    /// Listens at `path`, open to this user alone.
    ///
    /// - Throws: `SocketError`.
    package init(at path: String, _ session: VaultSession, _ fronts: SecretFronts) throws {
        self.fronts = fronts
        address = "unix:path=\(path)"
        // All programs share one group.
        var session = session
        session.client.accessGroups = [SecretGuests.sharedGroup]
        (session.client.preferredGroup, session.client.listableGroups) = (nil, nil)
        self.session = session
        var limits = ConnectionLoop.Limits()
        limits.connections = 256
        limits.admits = { $0 == geteuid() }
        loop = try ConnectionLoop(limits)
        let mask = umask(0o177)
        defer { umask(mask) }
        listener = try UnixSocket.listen(at: path, mode: 0o600)
    }

    deinit { close(listener) }

    /// Serves for as long as the process runs.
    package func run() {
        loop.listen(listener) { [loop, session, hub, fronts] in ProgramConnection($0, loop, session, hub, fronts) }
        loop.run()
    }
}

/// A program's connection in a service that limits nothing but their number.
// Safe to share between threads: the loop lets one thread at a time call `step(_:)`, and what it uses is for that
// thread. Another one may release the last reference.
private final class ProgramConnection: LoopedConnection, @unchecked Sendable {
    private let bell = Bell()
    private let guest: SecretConnection
    private let descriptor: Int32

    init?(
        _ seat: ConnectionSeat, _ loop: ConnectionLoop, _ session: VaultSession, _ hub: SecretHub,
        _ fronts: SecretFronts
    ) {
        descriptor = seat.descriptor
        let program = ServedProgram(user: seat.user, name: "")
        guard let conversation = try? fronts.open(seat.descriptor, for: program),
            conversation.takeSocket({ loop.exchange(seat, for: $0) })
        else { return nil }
        let access = SecretAccess(session: { [session] () throws(VaultError) in session }, name: "")
        guest = SecretConnection(
            seat.descriptor, conversation, SecretClient(access, hub, Mailbox(bell)), hub, NoLimits())
    }

    deinit { close(descriptor) }

    var alarm: Int32 { bell.descriptor }

    func step(_ cause: StepCause) -> ConnectionNeed { guest.step(cause) }

    private struct NoLimits: SecretConnection.Limits {
        func admitCall() -> Duration { .zero }
        func call(_ body: () -> Void) -> Duration {
            body()
            return .zero
        }
        func withPlace(_ body: () -> Void) { body() }
        func admits(_ bytes: Int) -> Bool { true }
        var needOfRoom: ConnectionNeed { .end }
        func giveRoomBack() {}
    }
}
