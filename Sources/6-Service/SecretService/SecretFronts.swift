import Access
import CLibrary
import Synchronization
import SystemBus

/// The front processes of a service: one for each program, so that what one program does to its front reads nobody
/// else's secrets.
package final class SecretFronts: Sendable {
    /// A conversation in a front.
    final class Conversation: Sendable {
        private let fronts: SecretFronts
        private let program: ServedProgram
        private let front: Front
        /// On which the front reports.
        let socket: Int32

        fileprivate init(_ fronts: SecretFronts, _ program: ServedProgram, _ front: Front, _ socket: Int32) {
            (self.fronts, self.program, self.front, self.socket) = (fronts, program, front, socket)
        }

        deinit {
            close(socket)
            fronts.end(program, front)
        }
    }

    private struct Entry {
        var front: Front
        var conversations = 0
        /// Counts the uses of all fronts.
        var lastUse = 0
    }

    private struct State {
        var entries: [ServedProgram: Entry] = [:]
        var uses = 0

        /// A front without a conversation, the one that was not used for the longest time.
        func idle(of user: UInt32?) -> ServedProgram? {
            entries.filter { $0.value.conversations == 0 && (user == nil || $0.key.user == user) }
                .min { $0.value.lastUse < $1.value.lastUse }?.key
        }
    }

    private let starter: FrontStarter
    private let state = Mutex(State())
    /// The most fronts, each of which is a process. A user may have half of those that others leave, and two.
    private static let most = 96
    /// The most fronts that wait for the next conversation of their programs.
    private static let mostIdle = 8

    package init(_ starter: FrontStarter) { self.starter = starter }

    /// Hands a program's socket to its front.
    ///
    /// - Throws: `FrontError`.
    func open(_ socket: Int32, for program: ServedProgram) throws(FrontError) -> Conversation {
        let front = try front(for: program)
        do throws(FrontError) {
            return Conversation(self, program, front, try front.take(socket))
        } catch {
            end(program, front)
            // Somebody has ended it: its conversations are over, and the next one has another.
            state.withLock { state in
                if state.entries[program]?.front === front { state.entries[program] = nil }
            }
            let other = try self.front(for: program)
            do throws(FrontError) {
                return Conversation(self, program, other, try other.take(socket))
            } catch {
                end(program, other)
                throw error
            }
        }
    }

    private func front(for program: ServedProgram) throws(FrontError) -> Front {
        try state.withLock { state throws(FrontError) in
            state.uses += 1
            if state.entries[program] == nil {
                try Self.makeRoom(for: program.user, &state)
                state.entries[program] = Entry(front: try starter.front())
            }
            state.entries[program]?.conversations += 1
            state.entries[program]?.lastUse = state.uses
            guard let front = state.entries[program]?.front else { throw .none }
            return front
        }
    }

    private static func makeRoom(for user: UInt32, _ state: inout State) throws(FrontError) {
        while true {
            let own = state.entries.count { $0.key.user == user }
            let others = state.entries.count - own
            let mostOfUser = max(2, (most - others) / 2)
            guard own >= mostOfUser else { return }
            guard let idle = state.idle(of: user) ?? state.idle(of: nil) else { throw .tooMany(mostOfUser) }
            state.entries[idle] = nil
        }
    }

    private func end(_ program: ServedProgram, _ front: Front) {
        // A front ends when it is forgotten, after the lock.
        let ended = state.withLock { state -> Front? in
            guard state.entries[program]?.front === front else { return nil }
            state.entries[program]?.conversations -= 1
            guard state.entries.count(where: { $0.value.conversations == 0 }) > Self.mostIdle,
                let idle = state.idle(of: nil)
            else { return nil }
            return state.entries.removeValue(forKey: idle)?.front
        }
        withExtendedLifetime(ended) {}
    }
}

extension FrontError {
    fileprivate static func tooMany(_ count: Int) -> FrontError {
        FrontError("\(count) programs of one user have connections to the Secret Service, and that is the most now")
    }

    fileprivate static var none: FrontError { FrontError("there is no front process") }
}
