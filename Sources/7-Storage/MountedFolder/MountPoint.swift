import Bytes
import CFuse3
import CLibrary
import FoundationEssentials
import SystemLibraries

/// The folder where a view is mounted.
package enum MountPoint {
    /// The file system type of views in the output of `mount`.
    private static let type = "fuse.keychain"

    /// The extended attribute for reading and setting the class of a file.
    package static let classAttribute = "user.keychain.class"

    /// Returns whether a view is mounted there, even if its process has ended.
    package static func isView(_ path: String) -> Bool { views.contains { $0.path == path } }

    /// Returns whether a file is in a view.
    package static func holds(_ path: String) -> Bool {
        // The table of mounts is long on some machines.
        guard isInUserSpace(path) else { return false }
        var information = stat()
        guard stat(path, &information) == 0 else { return false }
        return views.contains { $0.device == information.st_dev }
    }

    private typealias Examine = @convention(c) (UnsafePointer<CChar>, UnsafeMutableRawPointer) -> Int32
    private static let examine: Examine? = libraryFunction("statfs")

    /// Returns whether a program provides the file system of a file; true if that is not known.
    private static func isInUserSpace(_ path: String) -> Bool {
        guard let examine else { return true }
        // struct statfs has 120 bytes, and the kind of file system in its first word (asm-generic/statfs.h).
        return withUnsafeTemporaryAllocation(byteCount: 512, alignment: 16) { room in
            guard let base = room.baseAddress, examine(path, base) == 0 else { return true }
            // FUSE_SUPER_MAGIC (linux/magic.h).
            return room.load(as: UInt.self) == 0x6573_5546
        }
    }

    private static var views: [(path: String, device: dev_t)] {
        guard let table = try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8) else { return [] }
        return table.split(separator: "\n").compactMap { line in
            // proc(5): the third field is the device, the fifth is the mount point, and the type follows a single dash.
            let fields = line.split(separator: " ")
            guard fields.count > 6, let dash = fields.firstIndex(of: "-"), dash + 1 < fields.count,
                fields[dash + 1] == type
            else { return nil }
            let numbers = fields[2].split(separator: ":").compactMap { UInt64($0) }
            guard numbers.count == 2 else { return nil }
            return (unescaped(fields[4]), device(numbers[0], numbers[1]))
        }
    }

    /// Returns a device number, as `makedev` (sys/sysmacros.h) does, a macro that Swift cannot import.
    private static func device(_ major: UInt64, _ minor: UInt64) -> dev_t {
        dev_t(minor & 0xFF | (major & 0xFFF) << 8 | (minor & ~0xFF) << 12 | (major & ~0xFFF) << 32)
    }

    /// Decodes a field in which white space and backslashes are `\` and three octal digits.
    private static func unescaped(_ field: Substring) -> String {
        var (bytes, rest) = ([UInt8](), Array(field.utf8)[...])
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            guard byte == UInt8(ascii: "\\"), digits.count == 3,
                let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            else {
                bytes.append(byte)
                continue
            }
            bytes.append(code)
            rest = rest.dropFirst(3)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Checks a folder before a view is mounted there. Unmounts a view whose process has ended.
    package static func prepare(_ path: String, for folder: String) throws(MountError) {
        let (one, other) = (path + "/", folder + "/")
        guard !one.hasPrefix(other), !other.hasPrefix(one) else {
            throw .nested(folder: folder, mountPoint: path)
        }
        var opened = opendir(path)
        // Opening asks the view's process. access(2) may take its answer from the kernel's cache of an ended view.
        if opened == nil, errno == ENOTCONN, isView(path) {
            try unmount(path, lazily: true)
            opened = opendir(path)
        }
        guard let stream = opened else { throw .system(operation: "open", path: path, errno: errno) }
        defer { closedir(stream) }
        var count = 0
        while readdir(stream) != nil { count += 1 }
        guard count <= 2 else { throw .mountPointNotEmpty(path: path) }
    }

    /// - Parameter lazily: Whether programs that still use the view may continue to do so.
    package static func unmount(_ path: String, lazily: Bool) throws(MountError) {
        // MNT_DETACH and UMOUNT_NOFOLLOW (sys/mount.h).
        if umount2(path, (lazily ? 2 : 0) | 8) == 0 { return }
        if errno == EBUSY { throw .inUse(path: path) }
        guard errno == EPERM else { throw .system(operation: "unmount", path: path, errno: errno) }
        // An ordinary user can unmount the view with this setuid program.
        let arguments = ["fusermount3", "-u"] + (lazily ? ["-z"] : []) + ["--", path]
        guard let (isDone, text) = run("/usr/bin/env", arguments) else {
            throw .system(operation: "run fusermount3 for", path: path, errno: ENOENT)
        }
        guard isDone else {
            // fusermount3 prints the text of strerror, in the user's language.
            if text.contains(String(cString: strerror(EBUSY))) { throw .inUse(path: path) }
            throw .notUnmounted(mountPoint: path, reason: text.trimmed)
        }
    }

    /// Runs a program to its end.
    ///
    /// - Returns: Whether it succeeded, and its standard error; nil if it could not be started.
    private static func run(_ program: String, _ arguments: [String]) -> (isDone: Bool, errors: String)? {
        var ends: [Int32] = [-1, -1]
        guard
            socketpair(AF_UNIX, Int32(truncatingIfNeeded: SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0
        else {
            return nil
        }
        defer { close(ends[0]) }
        let process = start(program, arguments, errors: ends[1])
        close(ends[1])
        guard let process else { return nil }
        var (text, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4_096))
        while true {
            let count = buffer.withUnsafeMutableBytes { room in
                SystemCall.retryOnInterrupt { read(ends[0], room.baseAddress, room.count) }
            }
            guard count > 0 else { break }
            text += buffer[..<count]
        }
        var status: Int32 = 0
        guard SystemCall.retryOnInterrupt({ waitpid(process, &status, 0) }) >= 0 else { return nil }
        return (status == 0, String(decoding: text, as: UTF8.self))
    }

    private static func start(_ program: String, _ arguments: [String], errors: Int32) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        closeDescriptors(from: 3, in: &actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        dropRaisedIdentity(in: &attributes)
        resetSignals(in: &attributes)
        leadGroup(in: &attributes)
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        return posix_spawn(&process, program, &actions, &attributes, &words, environ) == 0 ? process : nil
    }
}
