import Foundation
import Glibc
import TestSupport
import Testing

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
        try eventually("the terminal echoes no more") { !isEchoing }
        type(text)
    }

    /// Waits until the terminal shows `text` beyond what was waited for before.
    func expect(_ text: String) throws {
        while !screen.contains(text) { try readMore() }
        if let range = screen.range(of: text) { screen = String(screen[range.upperBound...]) }
    }

    /// Whether the terminal shows `text`, without waiting for it.
    func shows(_ text: String) throws -> Bool {
        var entry = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        while poll(&entry, 1, 0) > 0 { try readMore() }
        return screen.contains(text)
    }

    private func readMore() throws {
        var entry = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        var buffer = [UInt8](repeating: 0, count: 4_096)
        guard poll(&entry, 1, Patience.milliseconds) > 0, case let count = read(master, &buffer, buffer.count),
            count > 0
        else {
            throw NothingHappened(expected: "more than '\(screen)' on the terminal")
        }
        screen += String(decoding: buffer[..<count], as: UTF8.self)
    }

    /// Starts a program whose controlling terminal this is, with standard error in a file.
    func start(_ program: String, _ arguments: [String], errors: String) throws -> pid_t {
        try ProgramStart([program] + arguments, leadsSession: true).start { actions in
            // The first terminal that the leader of a new session opens becomes its controlling terminal.
            for descriptor in Int32(0)...1 { posix_spawn_file_actions_addopen(&actions, descriptor, path, O_RDWR, 0) }
            posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT, 0o600)
        }
    }
}
