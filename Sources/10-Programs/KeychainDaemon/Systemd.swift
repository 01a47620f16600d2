import Bytes
import CLibrary
import SystemLibraries

/// The parts of systemd's interface that a daemon needs, without its library.
package enum Systemd {
    /// What a listening socket is for.
    enum SocketPurpose: String {
        /// The daemon's own protocol.
        case vault
        /// The Secret Service.
        case bus
        /// Credentials for units.
        case credentials

        /// - Parameter name: What the socket unit names it (`FileDescriptorName=`); any other name is the vault's.
        init(name: some StringProtocol) { self = SocketPurpose(rawValue: String(name)) ?? .vault }
    }

    /// Whether systemd passes a socket for the Secret Service.
    static var passesBus: Bool {
        let names = (Environment.value(of: "LISTEN_FDNAMES") ?? "").split(separator: ":")
        return names.contains { SocketPurpose(name: $0) == .bus }
    }

    /// The listening sockets that systemd passed (sd_listen_fds(3)).
    static func passedSockets() throws(DaemonError) -> [SocketPurpose: Int32] {
        guard let process = Environment.value(of: "LISTEN_PID").flatMap({ pid_t($0) }), process == getpid(),
            let count = Environment.value(of: "LISTEN_FDS").flatMap({ Int32($0) })
        else { return [:] }
        let names = (Environment.value(of: "LISTEN_FDNAMES") ?? "").split(
            separator: ":", omittingEmptySubsequences: false)
        // Child processes must not take the sockets for theirs.
        for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) }
        var sockets: [SocketPurpose: Int32] = [:]
        for index in 0..<max(0, count) {
            let descriptor = 3 + index
            let purpose = SocketPurpose(name: Int(index) < names.count ? names[Int(index)] : "")
            var isListening: Int32 = 0
            var size = socklen_t(clamping: MemoryLayout<Int32>.size)
            guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0, isListening == 1 else {
                throw DaemonError("systemd passed something that is not a listening socket: check the socket unit")
            }
            guard sockets.updateValue(descriptor, forKey: purpose) == nil else {
                throw DaemonError(
                    "systemd passed two sockets with the purpose '\(purpose.rawValue)': name one ListenStream for each")
            }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
        return sockets
    }

    /// Returns the watchdog that the service manager has for this process (sd_watchdog_enabled(3)); nil if there is
    /// none.
    static func watchdog() -> Watchdog? {
        Watchdog(
            microseconds: Environment.value(of: "WATCHDOG_USEC"), process: Environment.value(of: "WATCHDOG_PID"),
            at: .now)
    }

    /// Tells the service manager the daemon's state (sd_notify(3)).
    package static func notify(_ message: String) {
        guard let path = Environment.value(of: "NOTIFY_SOCKET"), path.hasPrefix("/") || path.hasPrefix("@") else {
            return
        }
        let socket = CLibrary.socket(AF_UNIX, Int32(truncatingIfNeeded: SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return }
        defer { close(socket) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(truncatingIfNeeded: AF_UNIX)
        var name = Array(path.utf8)
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        if name[0] == 0x40 { name[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let size = socklen_t(clamping: MemoryLayout<sa_family_t>.size + name.count)
        let bytes = Array(message.utf8)
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(socket, bytes, bytes.count, Int32(truncatingIfNeeded: MSG_NOSIGNAL), $0, size)
            }
        }
    }
}

/// The service manager's watchdog, which restarts a daemon that it does not hear of for some time.
struct Watchdog {
    private let interval: Duration
    private var next: ContinuousClock.Instant

    /// - Parameters:
    ///   - microseconds: The time after which the service manager acts.
    ///   - process: The process that it watches; nil for this one.
    init?(microseconds: String?, process: String?, at now: ContinuousClock.Instant) {
        guard let time = microseconds.flatMap({ Int64($0) }), time > 0 else { return nil }
        if let process, pid_t(process) != getpid() { return nil }
        // sd_watchdog_enabled(3) recommends half of the time.
        interval = .microseconds(time / 2)
        next = now + interval
    }

    /// Returns whether it is time to tell the service manager, and counts the next interval from now if it is.
    mutating func isDue(at now: ContinuousClock.Instant) -> Bool {
        guard now >= next else { return false }
        next = now + interval
        return true
    }
}
