import Glibc

/// Reads the start of a file.
package enum FileStart {
    /// Returns at most `count` bytes; nil if the file cannot be read.
    package static func read(_ path: String, count: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var failed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { room, filled in
            while filled < count {
                let got = Glibc.read(descriptor, room.baseAddress.map { $0 + filled }, count - filled)
                if got < 0, errno == EINTR { continue }
                failed = got < 0
                if got <= 0 { return }
                filled += got
            }
        }
        return failed ? nil : bytes
    }
}
