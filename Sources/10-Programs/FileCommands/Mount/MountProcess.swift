import ArgumentParser
import Bytes
import CLibrary
import CommandKit
import FoundationEssentials
import StatusCodes
import SystemLibraries

/// The process that serves a mounted folder.
enum MountProcess {
    /// Called at the start, before there is a second thread or a secret. The limits of ``Program`` are in force
    /// already.
    static func harden() {
        OwnMemory.hide()
        umask(0)
        // Each file that the kernel knows of takes a descriptor. The kernel's own limit (fs.nr_open) is for root alone.
        let resource = __rlimit_resource_t(truncatingIfNeeded: RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        var greatest = rlimit(rlim_cur: 1 << 20, rlim_max: max(1 << 20, limit.rlim_max))
        if setrlimit(resource, &greatest) != 0 {
            limit.rlim_cur = limit.rlim_max
            setrlimit(resource, &limit)
        }
    }

    /// Returns where notes for a person go: standard error, or for a process in the background the system's log.
    static func log(toSystem: Bool) -> @Sendable (String) -> Void {
        guard toSystem else {
            return { text in try? FileOutput.write(Data("keychain: \(text.escapedForTerminal)\n".utf8), to: 2) }
        }
        return { text in
            text.escapedForTerminal.withCString { text in
                withVaList([text]) { vsyslog(LOG_WARNING | LOG_USER, "keychain mount: %s", $0) }
            }
        }
    }

    /// Tells the process that waits that the folder is mounted, and lets go of the terminal.
    static func tellReady(_ descriptor: Int32) {
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        for standard in Int32(0)...2 { dup2(null, standard) }
        if null > 2 { close(null) }
        chdir("/")
        try? FileOutput.write(Data("ready\n".utf8), to: descriptor)
        close(descriptor)
    }

    /// Starts this program again in the background, and returns when it is ready.
    ///
    /// - Parameter passcode: What it reads from its descriptor 3.
    /// - Returns: Its process.
    /// - Throws: `ExitCode` if it failed. It has printed the reason.
    static func start(_ arguments: [String], passcode: SecretBytes?) throws -> pid_t {
        var (secret, ready): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        guard pipe(&secret) == 0, pipe(&ready) == 0 else {
            throw Failure(status: errSecIO, "no descriptor is left: end other programs or raise `ulimit -n`")
        }
        defer { close(ready[0]) }
        // A passcode is shorter than what a pipe holds.
        passcode?.withUnsafeBytes { _ = write(secret[1], $0.baseAddress, $0.count) }
        close(secret[1])
        // Copies with high numbers, which do not collide with the numbers that the new process gets.
        let given = [fcntl(secret[0], F_DUPFD_CLOEXEC, 10), fcntl(ready[1], F_DUPFD_CLOEXEC, 10)]
        close(secret[0])
        close(ready[1])
        let process: pid_t
        do {
            defer { for descriptor in given { close(descriptor) } }
            process = try spawn(arguments, given)
        }
        var (bytes, word) = ([UInt8](repeating: 0, count: 16), [UInt8]())
        while true {
            let count = bytes.withUnsafeMutableBytes { room in
                SystemCall.retryOnInterrupt { read(ready[0], room.baseAddress, room.count) }
            }
            guard count > 0 else { break }
            word += bytes[..<count]
        }
        if word.elementsEqual("ready\n".utf8) { return process }
        var status: Int32 = 0
        _ = SystemCall.retryOnInterrupt { waitpid(process, &status, 0) }
        let code = status & 0x7F == 0 ? status >> 8 & 0xFF : 0
        guard code == 0 else { throw ExitCode(code) }
        throw Failure(
            status: errSecIO, exitCode: ExitStatus.other,
            "the process in the background ended at once: try --foreground")
    }

    private static func spawn(_ arguments: [String], _ given: [Int32]) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for (place, descriptor) in given.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(clamping: 3 + place))
        }
        closeDescriptors(from: 5, in: &actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        dropRaisedIdentity(in: &attributes)
        resetSignals([], in: &attributes)
        // A terminal that is closed does not end it.
        leadSession(in: &attributes)
        var words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, "/proc/self/exe", &actions, &attributes, &words, environ)
        guard code == 0 else {
            throw Failure(status: errSecIO, "cannot start in the background: \(String(cString: strerror(code)))")
        }
        return process
    }
}
