/// The systemd unit that a process runs in, as its control group says.
package enum SystemdUnit: Sendable, Equatable {
    /// A unit of the system's manager: only root moves a process into it.
    case system(String)
    /// A unit of a user's manager: programs of that user can move between its units.
    case user(String)

    /// - Parameter path: A control group in the hierarchy that systemd manages.
    package init?(cgroup path: String) {
        // By bytes: a slash and a mark that combines with it are one Character.
        let parts = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        // A path that climbs is seen from inside another cgroup namespace and tells nothing.
        guard !parts.contains("..") else { return nil }
        guard let manager = parts.firstIndex(where: { $0.hasPrefix("user@") && $0.hasSuffix(".service") }) else {
            guard parts.first?.hasSuffix(".slice") == true, parts.first != "user.slice",
                let unit = parts.first(where: { !$0.hasSuffix(".slice") }), Self.isUnit(unit)
            else { return nil }
            self = .system(unit)
            return
        }
        guard let unit = parts[(manager + 1)...].first(where: { !$0.hasSuffix(".slice") }), Self.isUnit(unit) else {
            return nil
        }
        self = .user(unit)
    }

    /// Whether a name has one of the suffixes, and the characters that systemd allows (systemd.unit(5)). A user can
    /// give control groups below a user's manager any name.
    static func isUnit(_ name: String, with suffixes: [String] = [".service", ".scope"]) -> Bool {
        suffixes.contains(where: name.hasSuffix) && name.utf8.count <= 255
            && name.unicodeScalars.allSatisfy { scalar in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9", ":", "-", "_", ".", "\\", "@": true
                default: false
                }
            }
    }

    /// Returns the path in /proc/PID/cgroup (cgroups(7)): of the unified hierarchy, else of systemd's own.
    package static func path(inCgroups text: String) -> String? {
        var unified: String?
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
                .map { String(Substring($0)) }
            guard parts.count == 3 else { continue }
            if parts[1] == "name=systemd" { return parts[2] }
            if parts[0] == "0", parts[1].isEmpty { unified = parts[2] }
        }
        return unified
    }
}
