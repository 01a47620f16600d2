import Bytes
import CLibrary
import CommandKit
import DaemonLink
import ProcessVault
import SystemLibraries

/// What an isolated program sees of the file system.
struct IsolationPlaces {
    /// The current folder, and those of `--writable`: the program may write there.
    private(set) var writable: [String] = []
    /// What is closed to it.
    private(set) var hidden: [String] = []
    /// The current folder.
    let folder: String

    /// - Parameters:
    ///   - writable: Further folders and files that the program may write.
    ///   - hidden: Further folders and files that it may not see.
    init(writable: [String], hidden: [String]) throws {
        folder = try Self.place(".", of: "the current folder")
        let home = Environment.value(of: "HOME").flatMap(Self.real)
        guard folder != "/", home.map({ !Self.isInside($0, folder) }) ?? true else {
            throw Failure.usage(
                "--isolated lets the program write in the current folder, and \(folder.escapedForTerminal) is more than "
                    + "a project: change to the folder of the project")
        }
        for place in try [folder] + writable.map({ try Self.plainPlace($0) }) {
            let system = ["/proc", "/sys", "/dev"].first { Self.isInside(place, $0) }
            guard place != "/", system == nil, home.map({ !Self.isInside($0, place) }) ?? true else {
                throw Failure.usage(
                    "an isolated program may not write in \(place.escapedForTerminal): choose another folder")
            }
            self.writable.append(place)
        }
        for place in hidden { try hide(Self.place(place, of: "--hidden")) }
        for place in Self.ofKeychain() + MountedPlace.views() { try hide(place) }
    }

    /// Closes a place, as far as it is there.
    mutating func hide(_ place: String) throws(Failure) {
        guard let real = Self.real(place) else { return }
        for place in [real] + MountedPlace.others(of: real) { try hide(mounted: place) }
    }

    private mutating func hide(mounted place: String) throws(Failure) {
        guard !hidden.contains(where: { Self.isInside(place, $0) }) else { return }
        if let inner = writable.first(where: { Self.isInside($0, place) }) {
            throw .usage(
                "an isolated program does not see \(place.escapedForTerminal), and cannot write in "
                    + "\(inner.escapedForTerminal) there: choose another folder")
        }
        hidden.removeAll { Self.isInside($0, place) }
        hidden.append(place)
    }

    /// Where vaults and the sockets of daemons are, and the rules of a user's daemon.
    private static func ofKeychain() -> [String] {
        let home = Environment.value(of: "HOME") ?? "/"
        let named = ["XDG_DATA_HOME", "XDG_CONFIG_HOME"].compactMap { Environment.path(in: $0) }
        let folders = (named + ["\(home)/.local/share", "\(home)/.config", "/var/lib"]).map { $0 + "/keychain" }
        let sockets = (try? VaultPlace.ofProcess().sockets) ?? []
        return folders + [try? ProcessVault.defaultPath()].compactMap(\.self) + sockets
    }

    // MARK: Mounts

    /// In memory, new and empty for each run. All three have sockets and files of other programs.
    private static let fresh = [("/run", "0755"), ("/tmp", "1777"), ("/var/tmp", "1777")]

    /// What bwrap is told: each mount covers those before it.
    ///
    /// - Parameters:
    ///   - shown: Further files and folders that the program may read.
    ///   - certificates: The file that takes the place of the system's; nil for none.
    func words(showing shown: [String], certificates: String?) -> [String] {
        // The user root needs no rights to write settings of the kernel below /proc. What is opened through
        // /proc/self/fd is on another mount.
        var words = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc"]
        var covered: Set<String> = []
        for (place, mode) in Self.fresh {
            guard let place = Self.real(place), covered.insert(place).inserted else { continue }
            words += ["--perms", mode, "--tmpfs", place]
        }
        // The programs of NixOS.
        words += ["--ro-bind-try", "/run/current-system", "/run/current-system"]
        for place in writable.sorted() { words += ["--bind", place, place] }
        for place in shown { words += ["--ro-bind", place, place] }
        if let certificates {
            for place in Set(SystemCertificates.places.compactMap(Self.real)).sorted() {
                words += ["--ro-bind", certificates, place]
            }
        }
        for place in hidden {
            var info = stat()
            if stat(place, &info) == 0, info.st_mode & S_IFMT == S_IFDIR {
                words += ["--perms", "0000", "--tmpfs", place, "--remount-ro", place]
            } else {
                words += ["--ro-bind", "/dev/null", place]
            }
        }
        return words + ["--chdir", folder]
    }

    /// - Parameter origin: Who names the place.
    private static func place(_ path: String, of origin: String) throws(Failure) -> String {
        guard let place = real(path) else {
            let reason = errno == EILSEQ ? "its name is not UTF-8" : String(cString: strerror(errno))
            throw .usage(
                "\(origin): \(path.escapedForTerminal) cannot be used (\(reason)): name a folder that is there")
        }
        return place
    }

    /// A folder or file of `--writable`. A program that was isolated before may have left a link in its place.
    private static func plainPlace(_ path: String) throws(Failure) -> String {
        let place = try place(path, of: "--writable")
        let given = path.hasPrefix("/") ? path : try self.place(".", of: "the current folder") + "/" + path
        var parts: [Substring] = []
        for part in given.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        guard "/" + parts.joined(separator: "/") == place else {
            throw .usage(
                "--writable: \(path.escapedForTerminal) leads over a symbolic link to \(place.escapedForTerminal): name "
                    + "that, if it is what you mean")
        }
        return place
    }

    /// The path without symbolic links; nil, with `errno`, if nothing is there.
    private static func real(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        guard let place = String(validatingCString: found) else {
            errno = EILSEQ
            return nil
        }
        return place
    }

    static func isInside(_ place: String, _ folder: String) -> Bool {
        place == folder || folder == "/" || place.hasPrefix(folder + "/")
    }
}
