import Bytes
import CLibrary
import FoundationEssentials
import SystemLibraries

/// The right to refresh a login, which one process of the machine has at a time.
///
/// It is a part of the login's item, so only a process that may change the item can take it. It ends with its process,
/// but not before ``shortest``, and after ``longest`` in any case.
package struct LoginLease: Codable, Sendable, Equatable {
    /// In seconds: two requests, and some time to keep their answers.
    package static let longest: Int64 = 120
    /// In seconds: a request of a process that was killed may be on its way. So long nobody else sends one.
    package static let shortest: Int64 = 2

    /// Of this lease alone.
    package var holder: UUID
    /// The process, as those in its namespace know it.
    package var process: Int32
    /// When the process began, in ticks since the machine was started (proc_pid_stat(5)): another process may get its
    /// number.
    package var began: UInt64
    /// The namespace of processes.
    package var namespace: String
    /// Which start of the machine it is; nil where the kernel does not tell.
    package var boot: UUID?
    /// When the lease was taken: in seconds since that start, and since 1970.
    package var uptime: Int64
    package var time: Int64

    /// A lease of this process.
    package static func ofThisProcess(now: Int64, clock: BootClock = .system) -> LoginLease {
        LoginLease(
            holder: UUID(), process: getpid(), began: beginning(of: getpid()) ?? 0, namespace: ownNamespace(),
            boot: clock.bootIdentifier(), uptime: Int64(clamping: clock.uptime().rounded(.down)), time: now)
    }

    /// Whether another process may take it.
    package func isOver(now: Int64, clock: BootClock = .system) -> Bool {
        if let boot, boot == clock.bootIdentifier() {
            let age = Int64(clamping: clock.uptime().rounded(.down)).subtractingReportingOverflow(uptime).partialValue
            if !(0...Self.longest).contains(age) { return true }
            return age >= Self.shortest && !namespace.isEmpty && namespace == Self.ownNamespace() && isGone
        }
        // Of another machine that has the same folder, or of an earlier start of this one.
        let age = now.subtractingReportingOverflow(time).partialValue
        return !(0...Self.longest).contains(age)
    }

    /// Whether the process has ended.
    private var isGone: Bool {
        guard process > 0 else { return true }
        if kill(process, 0) != 0, errno == ESRCH { return true }
        // Where processes of others are hidden, nobody knows.
        return Self.beginning(of: process).map { $0 != began } ?? false
    }

    /// When a process began; nil if that cannot be read, and 0 for one that has ended and was not waited for.
    private static func beginning(of process: Int32) -> UInt64? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            // The name of the program may have spaces and parentheses.
            let end = text.lastIndex(of: ")")
        else { return nil }
        let fields = text[end...].split(separator: " ")
        guard fields.count > 20 else { return nil }
        return ["Z", "X"].contains(fields[1]) ? 0 : UInt64(fields[20])
    }

    private static func ownNamespace() -> String {
        var room = [CChar](repeating: 0, count: 128)
        let count = readlink("/proc/self/ns/pid", &room, room.count)
        return String(decoding: room.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
