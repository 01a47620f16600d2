import Bytes
import CLibrary
import CommandKit

/// The pipes that a command writes into. The output is masked and passed on to where this process would write.
///
/// It is passed on until the command itself has ended, and then as far as it is in the pipes: programs that the command
/// leaves in the background keep nobody waiting.
struct MaskedOutput: ~Copyable {
    private struct Stream {
        let target: Int32
        var reader: Int32 = -1
        var writer: Int32 = -1
        var mask: OutputMask
    }

    private var streams: [Stream]
    private var notices: [Int32] = [-1, -1]
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)

    init(masking secrets: [SecretBytes]) throws(Failure) {
        let mask = OutputMask(secrets)
        streams = [Stream(target: 1, mask: mask), Stream(target: 2, mask: mask)]
        for index in streams.indices {
            let ends = try Self.pipe()
            (streams[index].reader, streams[index].writer) = (ends[0], ends[1])
        }
        notices = try Self.pipe()
        // A handler must not wait.
        _ = fcntl(notices[1], F_SETFL, O_NONBLOCK)
    }

    deinit {
        SecretBytes.wipe(buffer)
        buffer.deallocate()
    }

    private static func pipe() throws(Failure) -> [Int32] {
        var ends: [Int32] = [-1, -1]
        guard CLibrary.pipe(&ends) == 0 else {
            throw .system("no pipe can be made: end other programs or raise `ulimit -n`", errno)
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return ends
    }

    /// The descriptors 1 and 2 of the command.
    var writers: (standard: Int32, error: Int32) { (streams[0].writer, streams[1].writer) }

    /// Passes on what `child` writes.
    ///
    /// - Returns: Its exit status, as ``RunSignals`` has it.
    mutating func run(for child: pid_t) -> Int32 {
        RunSignals.noticeChildren(on: notices[1])
        for index in streams.indices {
            close(streams[index].writer)
            streams[index].writer = -1
        }
        // The child may have ended before the handler was there.
        var status = RunSignals.status(of: child, blocking: false)
        while status == nil {
            let descriptors = [notices[0]] + streams.map(\.reader)
            var entries = descriptors.map { pollfd(fd: $0, events: Int16(truncatingIfNeeded: POLLIN), revents: 0) }
            guard poll(&entries, nfds_t(clamping: entries.count), -1) > 0 else { continue }
            for index in streams.indices where entries[index + 1].revents != 0 { pass(index, limit: buffer.count) }
            if entries[0].revents != 0 {
                _ = read(notices[0], buffer.baseAddress, buffer.count)
                status = RunSignals.status(of: child, blocking: false)
            }
        }
        for index in streams.indices where streams[index].reader >= 0 { drain(index) }
        return status ?? 1
    }

    /// Passes on what is in the pipe now, and ends the stream.
    private mutating func drain(_ index: Int) {
        var left: Int32 = 0
        _ = ioctl(streams[index].reader, UInt(truncatingIfNeeded: FIONREAD), &left)
        while left > 0, streams[index].reader >= 0 {
            left -= Int32(clamping: pass(index, limit: min(Int(left), buffer.count)))
        }
        if streams[index].reader >= 0 { end(index) }
    }

    /// Passes on what can be read at once.
    ///
    /// - Returns: The number of bytes.
    @discardableResult private mutating func pass(_ index: Int, limit: Int) -> Int {
        let count = read(streams[index].reader, buffer.baseAddress, limit)
        if count < 0, errno == EINTR { return 0 }
        guard count > 0 else {
            end(index)
            return 0
        }
        let piece = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count])
        let text = streams[index].mask.take(piece)
        // The reader of the output went away. The command notices when it writes.
        if !Self.put(text, to: streams[index].target) { stop(index) }
        return count
    }

    private mutating func end(_ index: Int) {
        _ = Self.put(streams[index].mask.finish(), to: streams[index].target)
        stop(index)
    }

    private mutating func stop(_ index: Int) {
        close(streams[index].reader)
        streams[index].reader = -1
    }

    private static func put(_ text: [UInt8], to descriptor: Int32) -> Bool {
        text.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = SystemCall.retryOnInterrupt {
                    write(descriptor, bytes.baseAddress?.advanced(by: written), bytes.count - written)
                }
                if count >= 0 {
                    written += count
                } else if errno == EAGAIN {
                    // The descriptor was given as one that does not block.
                    var entry = pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: POLLOUT), revents: 0)
                    _ = poll(&entry, 1, -1)
                } else {
                    return false
                }
            }
            return true
        }
    }
}
