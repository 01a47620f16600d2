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
        /// The socket on which the front reports, until somebody takes it.
        private let socket: Mutex<Int32>

        fileprivate init(_ fronts: SecretFronts, _ program: ServedProgram, _ front: Front, _ socket: Int32) {
            (self.fronts, self.program, self.front) = (fronts, program, front)
            self.socket = Mutex(socket)
        }

        deinit {
            closeSocket()
            fronts.end(program, front)
        }

        /// Lets `body` have the socket on which the front reports, once.
        func takeSocket(_ body: (Int32) -> Bool) -> Bool {
            defer { closeSocket() }
            return body(socket.withLock(\.self))
        }

        /// A front that was used lately makes room later.
        func noteUse() { fronts.noteUse(program) }

        private func closeSocket() {
            socket.withLock { socket in
                if socket >= 0 { close(socket) }
                socket = -1
            }
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
        var idle: ServedProgram? {
            entries.filter { $0.value.conversations == 0 }.min { $0.value.lastUse < $1.value.lastUse }?.key
        }

        /// The front of a user that makes room: one without a conversation first, and then the one that was not used
        /// for the longest time.
        func first(of user: UInt32) -> ServedProgram? {
            func isSooner(_ one: Entry, than other: Entry) -> Bool {
                if (one.conversations == 0) != (other.conversations == 0) { return one.conversations == 0 }
                return one.lastUse < other.lastUse
            }
            return entries.filter { $0.key.user == user }.min { isSooner($0.value, than: $1.value) }?.key
        }
    }

    private let starter: FrontStarter
    private let state = Mutex(State())
    /// The most fronts, each of which is a process. A user may have half of those that others leave, and two.
    private static let most = 96
    /// The most fronts that wait for the next conversation of their programs.
    private static let mostIdle = 8

    /// Fronts that `starter` starts.
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
            guard error == .gone else { throw error }
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
            var entry: Entry
            if let present = state.entries[program] {
                entry = present
            } else {
                Self.makeRoom(for: program.user, &state)
                entry = Entry(front: try starter.front())
            }
            entry.conversations += 1
            entry.lastUse = state.uses
            state.entries[program] = entry
            return entry.front
        }
    }

    /// One front more than a user may have ends the one of that user that was not used for the longest time.
    private static func makeRoom(for user: UInt32, _ state: inout State) {
        while true {
            let own = state.entries.count { $0.key.user == user }
            let others = state.entries.count - own
            let mostOfUser = max(2, (most - others) / 2)
            guard own >= mostOfUser, let first = state.first(of: user) else { return }
            state.entries.removeValue(forKey: first)?.front.end()
        }
    }

    private func noteUse(_ program: ServedProgram) {
        state.withLock { state in
            state.uses += 1
            state.entries[program]?.lastUse = state.uses
        }
    }

    private func end(_ program: ServedProgram, _ front: Front) {
        // A front ends when it is forgotten, after the lock.
        let ended = state.withLock { state -> Front? in
            guard state.entries[program]?.front === front else { return nil }
            state.entries[program]?.conversations -= 1
            guard state.entries.count(where: { $0.value.conversations == 0 }) > Self.mostIdle,
                let idle = state.idle
            else { return nil }
            return state.entries.removeValue(forKey: idle)?.front
        }
        withExtendedLifetime(ended) {}
    }
}
