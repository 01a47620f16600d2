import Bytes
import CLibrary
import FoundationEssentials
import SystemLibraries

/// What a program prints, which is read through pipes and is in no file.
enum ChildOutput {
    struct Outcome {
        /// In memory that is wiped.
        var output: Data
        /// What it says of errors; at most some lines.
        var errors: String
        /// The exit status; nil if nobody knows it: it was killed because it took too long or printed too much.
        var status: Int32?
    }

    private static let longestErrors = 16 << 10

    /// Runs a program to its end.
    ///
    /// - Parameters:
    ///   - arguments: The program, which is searched for in `PATH`, and its arguments.
    ///   - limit: The most bytes of output.
    ///   - patience: After it the program is killed.
    /// - Returns: Nil if the program cannot be started, with `errno` set.
    static func run(_ arguments: [String], limit: Int, patience: Duration) -> Outcome? {
        var (output, errors): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        guard pipe(&output) == 0 else { return nil }
        guard pipe(&errors) == 0 else {
            for end in output { close(end) }
            return nil
        }
        // Whoever started this program may ignore the signal, and the kernel would then forget how children end.
        signal(SIGCHLD, SIG_DFL)
        for end in output + errors { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let child = start(arguments, output[1], errors[1])
        let code = errno
        close(output[1])
        close(errors[1])
        defer {
            close(output[0])
            close(errors[0])
        }
        guard let child else {
            errno = code
            return nil
        }
        var outcome = Outcome(output: Data(), errors: "", status: nil)
        let isWhole = read(output[0], errors[0], limit, patience, &outcome)
        if !isWhole { kill(child, SIGKILL) }
        var status: Int32 = 0
        let ended = SystemCall.retryOnInterrupt { waitpid(child, &status, 0) }
        if isWhole, ended == child { outcome.status = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + (status & 0x7F) }
        outcome.output = .wipedWhenFreed(outcome.output)
        return outcome
    }

    private static func start(_ arguments: [String], _ output: Int32, _ errors: Int32) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        closeDescriptors(from: 3, in: &actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        dropRaisedIdentity(in: &attributes)
        resetSignals([SIGPIPE, SIGXFSZ], in: &attributes)
        var pointers = arguments.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var process: pid_t = 0
        let code = posix_spawnp(&process, arguments.first ?? "", &actions, &attributes, &pointers, environ)
        guard code == 0 else {
            errno = code
            return nil
        }
        return process
    }

    /// - Returns: False if it took too long, or there was too much.
    private static func read(
        _ output: Int32, _ errors: Int32, _ limit: Int, _ patience: Duration, _ outcome: inout Outcome
    ) -> Bool {
        let deadline = ContinuousClock.now + patience
        var entries = [output, errors].map { pollfd(fd: $0, events: Int16(truncatingIfNeeded: POLLIN), revents: 0) }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        defer { buffer.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        var text = Data()
        defer { outcome.errors = String(decoding: text, as: UTF8.self) }
        while entries.contains(where: { $0.fd >= 0 }) {
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else { return false }
            let milliseconds = Int32(clamping: left.components.seconds * 1_000 + 1_000)
            guard poll(&entries, nfds_t(clamping: entries.count), milliseconds) > 0 else { continue }
            for index in entries.indices where entries[index].fd >= 0 && entries[index].revents != 0 {
                let descriptor = entries[index].fd
                let count = SystemCall.retryOnInterrupt { CLibrary.read(descriptor, &buffer, buffer.count) }
                guard count > 0 else {
                    entries[index].fd = -1
                    continue
                }
                if index == 0 {
                    guard count <= limit - outcome.output.count else { return false }
                    outcome.output += buffer[..<count]
                } else {
                    text += buffer[..<min(count, longestErrors - text.count)]
                }
            }
        }
        return true
    }
}
