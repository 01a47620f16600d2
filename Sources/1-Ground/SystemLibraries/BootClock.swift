import Bytes
import CLibrary
import FoundationEssentials

/// Time that nobody can set: since the machine was started, sleep included, and which start that was.
package struct BootClock: Sendable {
    /// Another value after each start of the machine; nil where the kernel does not tell.
    package var bootIdentifier: @Sendable () -> UUID?
    /// Seconds since then.
    package var uptime: @Sendable () -> Double

    package init(bootIdentifier: @escaping @Sendable () -> UUID?, uptime: @escaping @Sendable () -> Double) {
        self.bootIdentifier = bootIdentifier
        self.uptime = uptime
    }

    /// The machine's own: `/proc/sys/kernel/random/boot_id` and CLOCK_BOOTTIME.
    package static let system = BootClock(
        bootIdentifier: {
            let text = (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)) ?? ""
            return UUID(uuidString: text.trimmed)
        },
        uptime: {
            var now = timespec()
            clock_gettime(CLOCK_BOOTTIME, &now)
            return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
        })
}
