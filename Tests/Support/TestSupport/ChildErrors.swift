import Glibc

/// The place where children write errors: a pipe of this process. A thread copies it to standard error.
///
/// Without the pipe, a child that outlives this process would keep standard error open, and the reader of the tests'
/// output would wait for it.
enum ChildErrors {
    /// The end of the pipe for children.
    static let descriptor: Int32 = {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return STDERR_FILENO }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var thread = pthread_t()
        let reading = UnsafeMutableRawPointer(bitPattern: Int(ends[0]))
        // Nobody joins this thread. It ends with the process.
        let code = pthread_create(&thread, nil, { ChildErrors.copy(from: Int32(Int(bitPattern: $0))) }, reading)
        guard code == 0 else { return STDERR_FILENO }
        pthread_detach(thread)
        return ends[1]
    }()

    private static func copy(from reading: Int32) -> UnsafeMutableRawPointer? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(reading, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            _ = write(STDERR_FILENO, buffer, count)
        }
    }
}
