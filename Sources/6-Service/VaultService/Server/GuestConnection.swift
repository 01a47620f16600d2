import Access
import Bytes
import CLibrary
import Connections
import VaultInterface

/// What answers a program that speaks another protocol than the daemon's own.
package protocol GuestProtocol: AnyObject {
    /// Goes on as far as it can without waiting for the program. One thread at a time calls this.
    func step(_ cause: StepCause) -> ConnectionNeed
}

/// A connection of a program that speaks another protocol than the daemon's own.
// Safe to share between threads: the loop lets one thread at a time call `step(_:)`, and what a guest uses in a step is
// for that thread. Another one may release the last reference.
package final class GuestConnection: LoopedConnection, @unchecked Sendable {
    package typealias Make = @Sendable (GuestVault, GuestConnection) -> (any GuestProtocol)?

    private enum State {
        case new
        case identification
        case identified(GuestVault)
        case served(GuestVault, any GuestProtocol)
        case refused
    }

    private let seat: ConnectionSeat
    private let server: VaultServer
    private let make: Make
    private var state = State.new
    private var room: RequestRoom?
    /// Until when a message or an answer may wait for room.
    private var endOfRoom: ContinuousClock.Instant?
    /// Begins a step, such as when there is something to tell the program.
    package let bell = Bell()

    init(_ seat: ConnectionSeat, server: VaultServer, _ make: @escaping Make) {
        (self.seat, self.server, self.make) = (seat, server, make)
    }

    deinit {
        if case .served = state { server.observer.disconnected() }
        close(seat.descriptor)
    }

    package var alarm: Int32 { bell.descriptor }

    package func step(_ cause: StepCause) -> ConnectionNeed {
        while true {
            switch state {
            case .new:
                state = .identification
                // The process pays before its program is looked up in /proc.
                let delay = server.rates.admitConnection(seat.program)
                if delay > .zero { return .time(.now + delay) }
            case .identification:
                let delay = identify()
                if delay > .zero { return .time(.now + delay) }
            case .identified(let vault):
                guard let guest = make(vault, self), let description = try? vault.grant().description else {
                    return .end
                }
                state = .served(vault, guest)
                server.observer.connected(description, process: seat.process, user: seat.user)
            case .served(_, let guest): return guest.step(cause)
            case .refused: return .end
            }
        }
    }

    /// - Returns: How long the connection is put off.
    private func identify() -> Duration {
        do {
            let vault = try GuestVault(Peer(of: seat.descriptor), seat, server: server)
            server.loop.greeted(seat, vault.program)
            state = .identified(vault)
            return server.rates.admitConnection(vault.program)
        } catch {
            let refusal = error as? VaultError
            server.observer.rejected(reason: refusal?.description ?? "\(error)", user: seat.user)
            if let refusal { server.record(refusal, of: "", seat.user) }
            state = .refused
            // A connection that is refused costs as much as one that is served.
            return server.rates.admitConnection(ServedProgram(user: seat.user, name: "not served"))
        }
    }

    /// The program's socket, or the one that has taken its place.
    package var descriptor: Int32 { seat.descriptor }

    /// Tells the observer why the program is not served.
    package func reject(_ reason: String) { server.observer.rejected(reason: reason, user: seat.user) }

    /// Lets another process have the program's socket, and waits for that process's from here on.
    ///
    /// - Returns: False if there are too few descriptors.
    package func exchange(for socket: Int32) -> Bool { server.loop.exchange(seat, for: socket) }

    /// Whether a message on its way in, or an answer on its way out, may take so many bytes.
    package func admits(_ bytes: Int) -> Bool {
        guard bytes > RequestRoom.free, case .served(let vault, _) = state else { return true }
        let present = room ?? RequestRoom(claim: server.budget.begin(vault.program), budget: server.budget)
        room = present
        let isAdmitted = server.budget.reserve(bytes, for: present.claim, within: .zero)
        if isAdmitted { endOfRoom = nil }
        return isAdmitted
    }

    /// What to wait for where ``admits(_:)`` said no.
    package var needOfRoom: ConnectionNeed {
        let end = endOfRoom ?? .now + server.limits.room
        endOfRoom = end
        return end > .now ? .time(.now + Self.patience) : .end
    }

    /// How often a message without room asks for it.
    private static let patience = Duration.milliseconds(10)

    /// Gives back the room of messages and answers.
    package func giveRoomBack() { room = nil }
}

/// The room that a request takes on its way in, until this goes.
final class RequestRoom {
    fileprivate let claim: RequestBudget.Claim
    private let budget: RequestBudget
    /// What a request may take without a claim, in bytes.
    fileprivate static let free = 64 << 10

    fileprivate init(claim: RequestBudget.Claim, budget: RequestBudget) { (self.claim, self.budget) = (claim, budget) }

    deinit { budget.end(claim) }
}
