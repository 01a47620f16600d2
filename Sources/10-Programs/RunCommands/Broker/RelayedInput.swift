import Bytes
import CLibrary
import CommandKit
import SystemLibraries

/// Passes what standard input has on to an isolated program through a pipe.
///
/// A program that has a file of the machine as a descriptor can open it again for writing (/proc/self/fd), and change
/// its rights. A socket stays in the network that it was made in.
struct RelayedInput {
    /// The program's end.
    let descriptor: Int32

    /// Whether a descriptor leads an isolated program out: all but a pipe and a character device, such as a terminal.
    static func isNeeded(for descriptor: Int32) -> Bool {
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { return false }
        return ![S_IFIFO, S_IFCHR].contains(info.st_mode & S_IFMT)
    }

    /// Begins to pass it on, on a thread of its own.
    init() throws(Failure) {
        var ends: [Int32] = [-1, -1]
        guard CLibrary.pipe(&ends) == 0 else { throw .system("no pipe can be made", errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        descriptor = ends[0]
        let target = ends[1]
        let isStarted = DetachedThread.start("input") {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
            defer {
                close(target)
                SecretBytes.wipe(buffer)
                buffer.deallocate()
            }
            while true {
                let count = SystemCall.retryOnInterrupt { read(0, buffer.baseAddress, buffer.count) }
                guard count > 0 else { return }
                var written = 0
                while written < count {
                    let more = SystemCall.retryOnInterrupt {
                        write(target, buffer.baseAddress?.advanced(by: written), count - written)
                    }
                    // The program reads no more.
                    guard more > 0 else { return }
                    written += more
                }
            }
        }
        guard isStarted else { throw .system("no thread can be started", errno) }
    }
}
