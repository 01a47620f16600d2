import Foundation
import Glibc

/// A terminal, what it shows, and the person who types at it.
final class Pty {
    private let master: Int32
    /// Kept open, so that a dialog that closes the terminal does not end it.
    private let slave: Int32
    let path: String
    private(set) var screen = ""

    init() throws {
        var (master, slave) = (Int32(-1), Int32(-1))
        var name = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard openpty(&master, &slave, &name, nil, nil) == 0 else { throw NothingHappened(expected: "a terminal") }
        (self.master, self.slave) = (master, slave)
        for descriptor in [master, slave] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        close(master)
        close(slave)
    }

    var isEchoing: Bool {
        var settings = termios()
        tcgetattr(slave, &settings)
        return settings.c_lflag & tcflag_t(ECHO) != 0
    }

    func type(_ text: String) {
        _ = write(master, text, text.utf8.count)
    }

    /// Types when nothing is echoed any more: pinentry drops what came before that.
    func typeUnseen(_ text: String) throws {
        for _ in 0..<5_000 where isEchoing { usleep(2_000) }
        guard !isEchoing else { throw NothingHappened(expected: "a terminal without echo") }
        type(text)
    }

    /// Waits until the terminal shows `text` beyond what was waited for before.
    func expect(_ text: String) throws {
        while !screen.contains(text) { try readMore() }
        if let range = screen.range(of: text) { screen = String(screen[range.upperBound...]) }
    }

    private func readMore() throws {
        var entry = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        var buffer = [UInt8](repeating: 0, count: 4_096)
        guard poll(&entry, 1, 10_000) > 0, case let count = read(master, &buffer, buffer.count), count > 0 else {
            throw NothingHappened(expected: "more than '\(screen)' on the terminal")
        }
        screen += String(decoding: buffer[..<count], as: UTF8.self)
    }

    /// Starts a program whose controlling terminal this is, with standard error in a file.
    func start(_ program: String, _ arguments: [String], errors: String) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The first terminal that the leader of a new session opens becomes its controlling terminal.
        for descriptor in Int32(0)...1 { posix_spawn_file_actions_addopen(&actions, descriptor, path, O_RDWR, 0) }
        posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT, 0o600)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Threads of tests block signals. 0x80 is POSIX_SPAWN_SETSID (spawn.h).
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(0x80 | POSIX_SPAWN_SETSIGMASK))
        var argv = ([program] + arguments).map { strdup($0) } + [nil]
        defer { argv.forEach { free($0) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, program, &actions, &attributes, &argv, environ)
        guard code == 0 else { throw NothingHappened(expected: "the start of \(program)") }
        return process
    }
}
