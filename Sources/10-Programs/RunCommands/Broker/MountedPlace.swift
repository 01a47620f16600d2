import Bytes
import CLibrary

/// A file system, or a folder of one, that is mounted: a line of /proc/self/mountinfo (proc(5)).
struct MountedPlace {
    /// The number of the file system.
    let device: String
    /// The folder of the file system that is mounted.
    let root: String
    /// Where.
    let point: String
    /// The kind of file system.
    let type: String

    /// Where `keychain mount` shows files in the clear.
    static func views() -> [String] { all().filter { $0.type == "fuse.keychain" }.map(\.point) }

    /// Returns the other paths that lead to a place, because a folder above it is mounted twice.
    ///
    /// - Parameter path: Without symbolic links.
    static func others(of path: String) -> [String] {
        let all = all()
        // The mount that is at the path: of two with one name, the later one covers the other.
        let above = all.filter { IsolationPlaces.isInside(path, $0.point) }
        guard let longest = above.map(\.point.utf8.count).max(),
            let own = above.last(where: { $0.point.utf8.count == longest })
        else { return [] }
        let inner = joined(own.root, rest(path, below: own.point))
        var status = stat()
        guard stat(path, &status) == 0 else { return [] }
        return all.compactMap { mount in
            guard mount.device == own.device else { return nil }
            // A part of the place.
            if mount.root != inner, IsolationPlaces.isInside(mount.root, inner) { return mount.point }
            guard IsolationPlaces.isInside(inner, mount.root) else { return nil }
            let other = joined(mount.point, rest(inner, below: mount.root))
            var found = stat()
            let isSame = stat(other, &found) == 0 && found.st_ino == status.st_ino && found.st_dev == status.st_dev
            return isSame && other != path ? other : nil
        }
    }

    private static func all() -> [MountedPlace] {
        guard let file = fopen("/proc/self/mountinfo", "re") else { return [] }
        defer { fclose(file) }
        var mounts: [MountedPlace] = []
        var line: UnsafeMutablePointer<CChar>?
        var room = 0
        defer { free(line) }
        while getline(&line, &room, file) > 0, let text = line {
            let words = String(cString: text).split(separator: " ")
            guard words.count > 5 else { continue }
            let type = words.drop { $0 != "-" }.dropFirst().first ?? ""
            mounts.append(
                MountedPlace(
                    device: String(words[2]), root: unescaped(words[3]), point: unescaped(words[4]),
                    type: String(type)))
        }
        return mounts
    }

    /// Spaces and the like are written as three octal digits.
    private static func unescaped(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(3), as: UTF8.self)
            guard byte == UInt8(ascii: "\\"), let value = UInt8(digits, radix: 8) else {
                bytes.append(byte)
                continue
            }
            bytes.append(value)
            rest = rest.dropFirst(3)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func rest(_ path: String, below folder: String) -> Substring {
        folder == "/" ? path[...] : path.dropFirst(folder.count)
    }

    private static func joined(_ folder: String, _ rest: Substring) -> String {
        let path = folder == "/" ? String(rest) : folder + rest
        return path.isEmpty ? "/" : path
    }
}
