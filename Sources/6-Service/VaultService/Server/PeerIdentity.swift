import Bytes
import CLibrary
import SystemLibraries

/// The process at the other end of a connection, as the kernel describes it.
package struct PeerIdentity: Sendable, Equatable {
    /// A program's file: which one it is, and where it is if that can be trusted.
    package struct Executable: Sendable, Equatable {
        package var path: String
        package var device: UInt64
        package var inode: UInt64

        package init(path: String, device: UInt64, inode: UInt64) {
            self.path = path
            self.device = device
            self.inode = inode
        }
    }

    package var process: pid_t
    package var user: uid_t
    /// Nil where it cannot be read, or where another file is at its path by now.
    package var executable: Executable?
    package var unit: SystemdUnit?
    package var flatpak: String?
    package var snap: String?
    /// The label of a security module, such as SELinux.
    package var label: String?

    package init(
        process: pid_t, user: uid_t, executable: Executable? = nil, unit: SystemdUnit? = nil,
        flatpak: String? = nil, snap: String? = nil, label: String? = nil
    ) {
        self.process = process
        self.user = user
        self.executable = executable
        self.unit = unit
        self.flatpak = flatpak
        self.snap = snap
        self.label = label
    }
}

/// The process behind a connection, held so that its number cannot come to mean another one.
package final class Peer: Sendable {
    /// A descriptor that shows whether the process is still there.
    private enum Hold {
        /// Its folder in /proc, which stands for this process alone (proc(5)), and the file that it ran when the
        /// connection was made, readable or not by name.
        case folder(Int32, FileNumbers)
        /// The process itself (pidfd_open(2)): nobody here may know what file it runs.
        case process(Int32)

        var descriptor: Int32 {
            switch self {
            case .folder(let descriptor, _), .process(let descriptor): descriptor
            }
        }
    }

    package let identity: PeerIdentity
    private let hold: Hold

    /// Identifies the process that connected `socket`.
    ///
    /// The facts are read by the process's number. They belong to the process because it is still alive afterwards,
    /// which its descriptor shows.
    package init(of socket: Int32) throws(PeerError) {
        let credentials = try Self.credentials(of: socket)
        let exact = try Self.processDescriptor(of: socket)
        let before = exact == nil ? try ProcessRecord(of: credentials.pid) : nil
        let process =
            if let exact { exact } else { try Self.processDescriptor(numbered: credentials.pid) }
        var held: Int32 = -1
        do throws(PeerError) {
            let number = try Self.number(of: process)
            guard number == credentials.pid else { throw PeerError("the process that connected is gone") }
            let folder = "/proc/\(number)"
            let image = FileNumbers(at: folder + "/exe")
            if image != nil { held = try Self.held(folder) }
            let unit = SystemdUnit.path(inCgroups: try Self.text(at: folder + "/cgroup"))
            identity = PeerIdentity(
                process: number, user: credentials.uid, executable: Self.executable(folder, image),
                unit: unit.flatMap(SystemdUnit.init(cgroup:)),
                flatpak: Self.flatpak(in: try Self.text(at: folder + "/root/.flatpak-info")),
                snap: unit.flatMap(Self.snap(inCgroup:)), label: Self.label(of: socket))
            guard Self.isAlive(process) else { throw PeerError("the process that connected is gone") }
            let after = exact == nil ? try ProcessRecord(of: number) : nil
            guard exact != nil || ProcessRecord.isOf(credentials.uid, before, after) else {
                throw PeerError("another process has the number of the one that connected")
            }
            hold = image.map { .folder(held, $0) } ?? .process(process)
        } catch {
            if held >= 0 { close(held) }
            close(process)
            throw error
        }
        if case .folder = hold { close(process) }
    }

    deinit { close(hold.descriptor) }

    /// Returns the path of the program that a process runs, for a name; nil if it cannot be read. By the time that it
    /// is known, the number may stand for another process.
    package static func program(ofProcess number: Int32) -> String? { target(of: "/proc/\(number)/exe") }

    /// Returns whether the process that connected is still there and runs the same file.
    package func isUnchanged() -> Bool {
        switch hold {
        // There is no such file below the folder of a process that has ended.
        case .folder(let folder, let image): FileNumbers(of: "exe", in: folder) == image
        case .process(let process):
            FileNumbers(at: "/proc/\(identity.process)/exe") == nil && Self.isAlive(process)
        }
    }

    private static func isAlive(_ process: Int32) -> Bool {
        var polled = pollfd(fd: process, events: Int16(truncatingIfNeeded: POLLIN), revents: 0)
        return poll(&polled, 1, 0) == 0
    }

    private static func held(_ folder: String) throws(PeerError) -> Int32 {
        // O_PATH (asm-generic/fcntl.h): for looking things up below it.
        let opened = open(folder, 0o10000000 | O_CLOEXEC | O_DIRECTORY)
        guard opened >= 0 else { throw PeerError("the process that connected is gone (errno \(errno))") }
        return opened
    }

    /// `struct ucred` of socket(7), which the Swift overlay does not declare.
    private struct Credentials {
        var pid: pid_t = 0
        var uid: uid_t = 0
        var gid: gid_t = 0
    }

    private static func credentials(of socket: Int32) throws(PeerError) -> Credentials {
        var credentials = Credentials()
        var size = socklen_t(clamping: MemoryLayout<Credentials>.size)
        guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 else {
            throw PeerError("no credentials")
        }
        return credentials
    }

    /// Returns the descriptor of the process that connected; nil from a kernel that has none.
    private static func processDescriptor(of socket: Int32) throws(PeerError) -> Int32? {
        // SO_PEERPIDFD (Linux 6.5, asm-generic/socket.h), younger than the headers of most systems.
        let option: Int32 = 77
        var descriptor: Int32 = -1
        var size = socklen_t(clamping: MemoryLayout<Int32>.size)
        if getsockopt(socket, SOL_SOCKET, option, &descriptor, &size) == 0 { return descriptor }
        guard errno == ENOPROTOOPT else { throw PeerError("the process that connected is gone") }
        return nil
    }

    /// Returns the descriptor of the process that has this number, for kernels before 6.5 (pidfd_open). The process
    /// that connected may have ended and its number been given away; see ``ProcessRecord``.
    private static func processDescriptor(numbered number: pid_t) throws(PeerError) -> Int32 {
        let opened = systemCall(434, Int(number))
        guard opened >= 0 else { throw PeerError("the process that connected is gone") }
        return Int32(truncatingIfNeeded: opened)
    }

    private static func number(of process: Int32) throws(PeerError) -> pid_t {
        let line = try text(at: "/proc/self/fdinfo/\(process)").split(separator: "\n").first { $0.hasPrefix("Pid:") }
        guard let number = line?.split(separator: "\t").last.flatMap({ pid_t($0) }), number > 0 else {
            throw PeerError("the process that connected is gone")
        }
        return number
    }

    /// Returns the program, if the file that it runs is the one at its path. A replaced program is not the file that
    /// is there now, and a program in a mount namespace of its own can have any path.
    private static func executable(_ folder: String, _ image: FileNumbers?) -> PeerIdentity.Executable? {
        guard let image, let path = target(of: folder + "/exe"), FileNumbers(at: path) == image else { return nil }
        return PeerIdentity.Executable(path: path, device: image.device, inode: image.inode)
    }

    private static func target(of link: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        return printable(buffer[..<count])
    }

    /// Returns the text of `bytes`. A name is for logs, prompts and terminals: one with control characters, or with
    /// characters that end a line or turn its direction, is none.
    static func printable(_ bytes: some Collection<UInt8>) -> String? {
        let text = String(validating: bytes, as: UTF8.self)
        return text?.unicodeScalars.contains(where: \.controlsTerminal) == false ? text : nil
    }

    private static func label(of socket: Int32) -> String? {
        var buffer = [UInt8](repeating: 0, count: 1024)
        var size = socklen_t(clamping: buffer.count)
        guard getsockopt(socket, SOL_SOCKET, SO_PEERSEC, &buffer, &size) == 0, size > 0 else { return nil }
        let bytes = buffer[..<min(Int(size), buffer.count)].prefix { $0 != 0 && $0 != 0x0A }
        let label = printable(bytes)
        return label == "unconfined" ? nil : label
    }

    private static func text(at path: String) throws(PeerError) -> String {
        String(validating: try contents(of: path), as: UTF8.self) ?? ""
    }

    /// Returns the first 64 KiB of a small file; nothing if there is no such file, or if this process may not read it.
    ///
    /// - Throws: ``PeerError`` if the file could not be opened for another reason, such as too many open files: what a
    ///   program is must not depend on what others do.
    static func contents(of path: String) throws(PeerError) -> [UInt8] {
        // A process chooses what is at a path below its own root. A device must not even be opened: a terminal would
        // become this process's own. O_PATH (asm-generic/fcntl.h) opens nothing.
        let place = open(path, 0o10000000 | O_CLOEXEC | O_NOFOLLOW)
        guard place >= 0 else {
            guard [ENOENT, EACCES, EPERM, ENOTDIR, ELOOP, ESRCH].contains(errno) else {
                throw PeerError("\(path.split(separator: "/").last ?? "") cannot be read (errno \(errno))")
            }
            return []
        }
        defer { close(place) }
        var info = stat()
        guard fstat(place, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return [] }
        let descriptor = open("/proc/self/fd/\(place)", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            guard [ENOENT, EACCES, EPERM, ESRCH].contains(errno) else {
                throw PeerError("\(path.split(separator: "/").last ?? "") cannot be read (errno \(errno))")
            }
            return []
        }
        defer { close(descriptor) }
        var contents: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while contents.count < 1 << 16 {
            let count = read(descriptor, &chunk, chunk.count)
            guard count > 0 else { break }
            contents.append(contentsOf: chunk[..<count])
        }
        return contents
    }

    /// Returns the application in a Flatpak sandbox's description of itself (flatpak-metadata(5)).
    static func flatpak(in info: String) -> String? {
        var isApplication = false
        // By bytes: "\r\n" is one Character, and does not end a line for `String`.
        for line in info.utf8.split(separator: UInt8(ascii: "\n")) {
            if line.starts(with: "[".utf8) { isApplication = line.elementsEqual("[Application]".utf8) }
            if isApplication, line.starts(with: "name=".utf8) { return sandboxName(line.dropFirst(5)) }
        }
        return nil
    }

    /// Returns the snap in a cgroup such as `…/snap.NAME.APP-UUID.scope`.
    static func snap(inCgroup path: String) -> String? {
        for part in path.utf8.split(separator: UInt8(ascii: "/")).reversed() where part.starts(with: "snap.".utf8) {
            return part.split(separator: UInt8(ascii: ".")).dropFirst().first.flatMap(sandboxName)
        }
        return nil
    }

    /// Returns the name of an application in a sandbox: 1 to 255 of the letters, digits, `.`, `_` and `-` of ASCII. A
    /// program can make itself a description with any bytes in it.
    private static func sandboxName(_ bytes: Substring.UTF8View) -> String? {
        let isName = bytes.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        return isName && (1...255).contains(bytes.count) ? String(Substring(bytes)) : nil
    }
}

/// The facts that tell two processes apart that had one number after each other.
struct ProcessRecord: Equatable {
    /// The effective user, who owns `/proc/PID`.
    var owner: uid_t
    /// In ticks since the machine started.
    var start: UInt64

    init(owner: uid_t, start: UInt64) {
        self.owner = owner
        self.start = start
    }

    init?(of process: pid_t) throws(PeerError) {
        var info = stat()
        guard stat("/proc/\(process)", &info) == 0,
            let start = Self.start(inStat: try Peer.contents(of: "/proc/\(process)/stat"))
        else { return nil }
        self.init(owner: info.st_uid, start: start)
    }

    /// Returns whether what was read under a process's number between `before` and `after` is about one process of
    /// `user`, who connected.
    static func isOf(_ user: uid_t, _ before: ProcessRecord?, _ after: ProcessRecord?) -> Bool {
        guard let before, before == after else { return false }
        return before.owner == user
    }

    /// Returns the start time in `/proc/PID/stat` (proc_pid_stat(5)): the 22nd field. The second is the program's own
    /// name in parentheses, with any bytes in it.
    static func start(inStat stat: [UInt8]) -> UInt64? {
        guard let end = stat.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = stat[(end + 1)...].split(separator: UInt8(ascii: " "))
        guard fields.count > 19 else { return nil }
        return UInt64(String(decoding: fields[19], as: UTF8.self))
    }
}

/// Which file a path leads to.
struct FileNumbers: Equatable {
    let device: UInt64
    let inode: UInt64

    init?(at path: String) { self.init(of: path, in: AT_FDCWD) }

    /// - Parameter folder: Where `path` begins, unless it is absolute.
    init?(of path: String, in folder: Int32) {
        var info = stat()
        guard fstatat(folder, path, &info, 0) == 0 else { return nil }
        device = UInt64(info.st_dev)
        inode = UInt64(info.st_ino)
    }
}

/// The reason why a peer could not be identified.
package struct PeerError: Error, Equatable {
    package let reason: String
    init(_ reason: String) { self.reason = reason }
}
