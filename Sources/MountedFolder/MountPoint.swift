import CFuse3
import Foundation
import Glibc

/// The folder at which a view is seen.
package enum MountPoint {
    /// What `mount` shows as the type of views.
    private static let type = "fuse.keychain"

    /// The extended attribute that shows the class of a file and sets it.
    package static let classAttribute = "user.keychain.class"

    /// Whether a view is mounted there, be it one whose process is gone.
    package static func isView(_ path: String) -> Bool { views.contains { $0.path == path } }

    /// Whether a file is in a view.
    package static func holds(_ path: String) -> Bool {
        var information = stat()
        guard stat(path, &information) == 0 else { return false }
        return views.contains { $0.device == information.st_dev }
    }

    private static var views: [(path: String, device: dev_t)] {
        guard let table = try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8) else { return [] }
        return table.split(separator: "\n").compactMap { line in
            // proc(5): the third field is the device, the fifth the mount point; the type follows a lone dash.
            let fields = line.split(separator: " ")
            guard fields.count > 6, let dash = fields.firstIndex(of: "-"), dash + 1 < fields.count,
                fields[dash + 1] == type
            else { return nil }
            let numbers = fields[2].split(separator: ":").compactMap { UInt64($0) }
            guard numbers.count == 2 else { return nil }
            return (unescaped(fields[4]), device(numbers[0], numbers[1]))
        }
    }

    /// `makedev` (sys/sysmacros.h), a macro that Swift does not see.
    private static func device(_ major: UInt64, _ minor: UInt64) -> dev_t {
        dev_t(minor & 0xFF | (major & 0xFFF) << 8 | (minor & ~0xFF) << 12 | (major & ~0xFFF) << 32)
    }

    /// White space and backslashes stand there as `\` and three octal digits.
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

    /// Checks a folder that a view is about to be mounted at, and takes away a view whose process is gone.
    package static func prepare(_ path: String, for folder: String) throws(MountError) {
        let isDead = access(path, F_OK) != 0 && errno == ENOTCONN
        if isDead, isView(path) { try unmount(path, lazily: true) }
        let (one, other) = (path + "/", folder + "/")
        guard !one.hasPrefix(other), !other.hasPrefix(one) else {
            throw .nested(folder: folder, mountPoint: path)
        }
        guard let stream = opendir(path) else { throw .system(operation: "open", path: path, errno: errno) }
        defer { closedir(stream) }
        var count = 0
        while readdir(stream) != nil { count += 1 }
        guard count <= 2 else { throw .mountPointNotEmpty(path: path) }
    }

    /// - Parameter lazily: Whether the view may go on for those who still use it.
    package static func unmount(_ path: String, lazily: Bool) throws(MountError) {
        // MNT_DETACH and UMOUNT_NOFOLLOW (sys/mount.h)
        if umount2(path, (lazily ? 2 : 0) | 8) == 0 { return }
        if errno == EBUSY { throw .inUse(path: path) }
        guard errno == EPERM else { throw .system(operation: "unmount", path: path, errno: errno) }
        // Its users may unmount it with the help of this program, which is setuid.
        let program = Process()
        program.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        program.arguments = ["fusermount3", "-u"] + (lazily ? ["-z"] : []) + ["--", path]
        let errors = Pipe()
        program.standardError = errors
        do {
            try program.run()
        } catch {
            throw .system(operation: "run fusermount3 for", path: path, errno: ENOENT)
        }
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        program.waitUntilExit()
        guard program.terminationStatus == 0 else {
            // fusermount3 has the words of strerror, in whatever language.
            if text.contains(String(cString: strerror(EBUSY))) { throw .inUse(path: path) }
            throw .notUnmounted(mountPoint: path, reason: text.trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }
}
