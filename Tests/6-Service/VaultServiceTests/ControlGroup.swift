import Foundation
import Glibc

/// A control group as systemd makes for a service, made by hand: root may.
final class ControlGroup {
    let unit: String
    private let path: String

    init() throws {
        let mounts = try String(contentsOfFile: "/proc/self/mounts", encoding: .utf8).split(separator: "\n")
            .map { $0.split(separator: " ").map(String.init) }.filter { $0.count > 3 }
        // Of the two the one that systemd manages, as the daemon looks for it too.
        let hierarchy =
            mounts.first { $0[2] == "cgroup" && $0[3].contains("name=systemd") } ?? mounts.first { $0[2] == "cgroup2" }
        guard let hierarchy else { throw POSIXError(.ENODEV) }
        unit = "keychain-test-\(UUID().uuidString.prefix(8)).service"
        path = "\(hierarchy[1])/system.slice/\(unit)"
        mkdir("\(hierarchy[1])/system.slice", 0o755)
        guard mkdir(path, 0o755) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    /// Moves a process in.
    func admit(_ process: pid_t) throws {
        let file = open(path + "/cgroup.procs", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        defer { close(file) }
        let line = "\(process)\n"
        guard write(file, line, line.utf8.count) == line.utf8.count else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
    }

    deinit {
        // A process that has just ended may still be in it.
        for _ in 0..<100 where rmdir(path) != 0 && errno == EBUSY { usleep(10_000) }
    }
}
