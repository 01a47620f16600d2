import Foundation
import Glibc
import SystemLibraries
import Testing

/// A process that need not be a child of this one.
///
/// The process counts as ended when it exits, even before its parent reaps it. Process 1 reaps orphans, which on some
/// machines takes long.
package final class WatchedProcess: Sendable {
    /// A descriptor of `pidfd_open(2)`; -1 if the process had already ended.
    private let descriptor: Int32

    package init(_ process: pid_t) throws {
        descriptor = Int32(try Self.call(434, Int(process), 0))
        guard descriptor >= 0 || errno == ESRCH else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// The numbers of the system calls are the same on all architectures (asm-generic/unistd.h).
    private static func call(_ number: Int, _ first: Int, _ second: Int) throws -> Int {
        typealias Function = @convention(c) (Int, Int, Int, Int, Int) -> Int
        guard let call: Function = libraryFunction("syscall") else { throw POSIXError(.ENOSYS) }
        return call(number, first, second, 0, 0)
    }

    package func send(_ signal: Int32) throws {
        // pidfd_send_signal(2)
        if descriptor >= 0 { _ = try Self.call(424, Int(descriptor), Int(signal)) }
    }

    package var hasEnded: Bool { hasEnded(within: 0) }

    /// - Throws: ``NeverHappened``.
    package func waitForEnd(
        _ what: @autoclosure () -> String = "a process ends", sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        guard hasEnded(within: Patience.milliseconds) else { throw NeverHappened(what()).record(sourceLocation) }
    }

    private func hasEnded(within milliseconds: Int32) -> Bool {
        guard descriptor >= 0 else { return true }
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        var ready = poll(&entry, 1, milliseconds)
        while ready < 0, errno == EINTR { ready = poll(&entry, 1, milliseconds) }
        return ready > 0
    }
}
