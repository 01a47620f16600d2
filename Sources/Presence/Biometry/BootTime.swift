import Glibc

/// A moment since the machine was started, sleep included, which no setting of the clock changes.
package struct BootTime: Sendable, Equatable {
    /// Which start of the machine it was.
    package var boot: String
    /// Seconds since then.
    package var seconds: Double

    package init(boot: String, seconds: Double) {
        self.boot = boot
        self.seconds = seconds
    }

    /// Now; nil where the kernel does not tell which start this is.
    package static func now() -> BootTime? {
        let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var text = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &text, text.count)
        var time = timespec()
        // A UUID in text, 36 bytes (proc(5)).
        guard count >= 36, clock_gettime(CLOCK_BOOTTIME, &time) == 0 else { return nil }
        return BootTime(
            boot: String(decoding: text[..<36], as: UTF8.self),
            seconds: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
    }
}
