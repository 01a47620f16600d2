import CLibrary

/// The first bytes of a file.
package enum FileStart {
    /// Returns at most `count` bytes; nil if the file cannot be read.
    package static func read(_ path: String, count: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var failed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { room, filled in
            let room = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(room)[..<count])
            let got = SystemCall.readAll(into: room, from: descriptor)
            failed = got < 0
            filled = max(0, got)
        }
        return failed ? nil : bytes
    }
}
