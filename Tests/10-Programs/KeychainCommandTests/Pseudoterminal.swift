import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// A child at a terminal of its own, and the person who types at it.
final class Pseudoterminal {
    private let master: Int32
    let process: pid_t
    private var hasEnded = false
    /// Everything the terminal has shown.
    private(set) var screen = ""

    /// - Parameter redirections: Descriptors of the child that are these paths instead of the terminal.
    init(_ workplace: Workplace, _ arguments: [String], redirections: [Int32: String] = [:]) throws {
        var (master, slave) = (Int32(-1), Int32(-1))
        var name = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard openpty(&master, &slave, &name, nil, nil) == 0 else {
            throw WorkplaceError(operation: "openpty", errno: errno)
        }
        self.master = master
        // The child opens it again; the end shows only when nobody has it open.
        defer { close(slave) }
        for descriptor in [master, slave] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        let path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        process = try workplace.start(arguments).start { actions in
            // The first terminal that the leader of a new session opens becomes its controlling terminal.
            for descriptor in Int32(0)...2 {
                posix_spawn_file_actions_addopen(&actions, descriptor, path, O_RDWR, 0)
            }
            for (descriptor, path) in redirections {
                posix_spawn_file_actions_addopen(&actions, descriptor, path, O_RDWR | O_CREAT, 0o600)
            }
        }
    }

    deinit {
        close(master)
        guard !hasEnded else { return }
        kill(process, SIGKILL)
        ProgramStart.wait(for: process)
    }

    /// Waits until the terminal shows `text` beyond what was waited for before.
    func expect(_ text: String) throws {
        while !pending.contains(text) {
            guard try readMore() else {
                throw WorkplaceError(operation: "see '\(text)' in '\(screen)'", errno: ETIMEDOUT)
            }
        }
        if let range = pending.range(of: text) { pending = String(pending[range.upperBound...]) }
    }

    /// What was shown and not yet waited for.
    private var pending = ""

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(master, bytes, bytes.count)
    }

    /// Waits until what is typed is not shown.
    func waitUntilSilent() throws {
        try eventually("the prompt does not echo") { !isEchoing }
    }

    var isEchoing: Bool {
        var settings = termios()
        tcgetattr(master, &settings)
        return settings.c_lflag & tcflag_t(ECHO) != 0
    }

    /// Reads what is left and waits for the child's end.
    func finish() throws -> Int32 {
        while try readMore() {}
        hasEnded = true
        return ProgramStart.wait(for: process)
    }

    /// - Returns: False at the end, which is when no process has the terminal open any more.
    private func readMore() throws -> Bool {
        var entry = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        let ready = poll(&entry, 1, Patience.milliseconds)
        if ready < 0, errno == EINTR { return true }
        guard ready > 0 else { throw WorkplaceError(operation: "wait for output after '\(screen)'", errno: ETIMEDOUT) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(master, &buffer, buffer.count)
        guard count > 0 else { return false }
        let text = String(decoding: buffer[..<count], as: UTF8.self)
        screen += text
        pending += text
        return true
    }
}
