import Bytes
import CLibrary
import FoundationEssentials
import StatusCodes
import SystemLibraries

/// Another program that a command uses, such as one that has the clipboard.
package enum ToolProcess {
    /// Returns whether a program with this name is in a folder of `PATH`.
    package static func exists(_ name: String) -> Bool {
        // _PATH_DEFPATH (paths.h) is what the C library takes without PATH.
        let folders = (Environment.value(of: "PATH") ?? "/usr/bin:/bin").split(separator: ":")
        return folders.contains { access("\($0)/\(name)", X_OK) == 0 }
    }

    package struct Outcome {
        /// In memory that is wiped.
        package var output = Data()
        /// What it says of errors; at most some lines.
        package var errors = ""
        /// The exit status, or 128 and the signal that ended it; nil if nobody knows it: it was killed because it took
        /// too long or printed too much.
        package var status: Int32?
    }

    private static let longestErrors = 16 << 10

    /// Runs a program to its end. What it says on standard error is dropped.
    ///
    /// - Parameters:
    ///   - words: Its name, which is looked for in `PATH`, and its arguments, which every user can see.
    ///   - input: What it reads on standard input.
    ///   - limit: The most bytes of its standard output that are read; 0 to drop them.
    /// - Returns: Its output; nil if it was not there, failed or wrote too much.
    package static func run(_ words: [String], input: Data = Data(), limit: Int = 0) -> Data? {
        guard let outcome = outcome(of: words, input: input, limit: limit), outcome.status == 0 else { return nil }
        return outcome.output
    }

    /// Runs a program to its end.
    ///
    /// - Parameters:
    ///   - limit: The most bytes of output; 0 to drop what it prints, also of errors. A program that leaves a process
    ///     behind, which keeps the descriptors, ends only so.
    ///   - patience: After it the program is killed.
    /// - Returns: Nil if the program cannot be started, with `errno` set.
    package static func outcome(
        of words: [String], input: Data = Data(), limit: Int, patience: Duration = .seconds(600)
    ) -> Outcome? {
        guard let standard = SocketPair(), let output = SocketPair(), let errors = SocketPair() else { return nil }
        // The parent process may have ignored SIGCHLD. Then the kernel keeps no exit status of children.
        signal(SIGCHLD, SIG_DFL)
        let outputs = limit > 0 ? (output.theirs, errors.theirs) : nil
        guard let process = start(words, input: standard.theirs, outputs: outputs) else { return nil }
        for pair in [standard, output, errors] { pair.closeTheirs() }
        // A program may write before it has read everything. The thread has a descriptor of its own.
        let writer = fcntl(standard.ours, F_DUPFD_CLOEXEC, 3)
        var isWhole =
            writer >= 0
            && DetachedThread.start("tool input") {
                // A program that ends before it has read everything says so by its status.
                _ = input.withUnsafeBytes { SystemCall.sendAll($0, to: writer) }
                shutdown(writer, Int32(clamping: SHUT_WR))
                close(writer)
            }
        var outcome = Outcome()
        if limit > 0 { isWhole = isWhole && read(output.ours, errors.ours, limit, patience, &outcome) }
        if !isWhole { kill(process, SIGKILL) }
        var status: Int32 = 0
        let ended = SystemCall.retryOnInterrupt { waitpid(process, &status, 0) }
        if isWhole, ended == process {
            outcome.status = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + (status & 0x7F)
        }
        outcome.output = .wipedWhenFreed(outcome.output)
        return outcome
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

    /// Starts this program once more, in a session of its own, and goes on.
    ///
    /// - Parameter input: What it reads on standard input: secrets belong there, and not among its arguments.
    /// - Returns: Whether it was started.
    package static func startThisProgram(_ arguments: [String], input: Data) -> Bool {
        guard let standard = SocketPair(),
            start(["/proc/self/exe"] + arguments, named: "keychain", input: standard.theirs, outputs: nil, leads: true)
                != nil
        else { return false }
        standard.closeTheirs()
        return input.withUnsafeBytes { SystemCall.sendAll($0, to: standard.ours) }
    }

    private static func start(
        _ words: [String], named name: String? = nil, input: Int32, outputs: (standard: Int32, error: Int32)?,
        leads: Bool = false
    ) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        if let outputs {
            posix_spawn_file_actions_adddup2(&actions, outputs.standard, 1)
            posix_spawn_file_actions_adddup2(&actions, outputs.error, 2)
        } else {
            posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
            posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        }
        closeDescriptors(from: 3, in: &actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        dropRaisedIdentity(in: &attributes)
        resetSignals(in: &attributes)
        if leads { leadSession(in: &attributes) }
        var arguments = ([name ?? words.first ?? ""] + words.dropFirst()).map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        let code = posix_spawnp(&process, words.first ?? "", &actions, &attributes, &arguments, environ)
        guard code == 0 else {
            errno = code
            return nil
        }
        return process
    }
}

/// Two ends of a connection, which are closed when nobody has the pair any more.
private final class SocketPair {
    let ours: Int32
    private(set) var theirs: Int32

    init?() {
        var ends: [Int32] = [-1, -1]
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
        guard socketpair(AF_UNIX, Int32(clamping: kind), 0, &ends) == 0 else { return nil }
        (ours, theirs) = (ends[0], ends[1])
    }

    func closeTheirs() {
        guard theirs >= 0 else { return }
        close(theirs)
        theirs = -1
    }

    deinit {
        closeTheirs()
        close(ours)
    }
}
