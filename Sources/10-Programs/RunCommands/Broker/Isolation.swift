import Bytes
import CLibrary
import CommandKit
import StatusCodes
import SystemLibraries

/// Runs a program in namespaces of its own, where it reaches the broker and nothing else. bwrap makes the namespaces
/// and the mounts.
struct Isolation {
    /// Where the program finds the broker on its own loopback interface.
    static let port = 3128

    /// Where it finds the broker for a rule for PostgreSQL.
    ///
    /// - Parameter number: From 0 on.
    static func databasePort(_ number: Int) -> Int { 5_432 + number }

    /// How many of these there are.
    private let databases: Int
    private var places: IsolationPlaces
    private let tool: String
    /// util-linux's `unshare`: it keeps what is mounted outside later from showing up inside.
    private let unshare: String
    /// This program, which prepares the isolation from inside.
    private let own: String

    /// Fails if this machine isolates no program, before anybody is asked for anything.
    ///
    /// - Parameter databases: The number of rules for PostgreSQL.
    init(_ places: IsolationPlaces, databases: Int) throws(Failure) {
        (self.places, self.databases) = (places, databases)
        tool = try Self.tool("bwrap", of: "bubblewrap", notIn: places.writable)
        unshare = try Self.tool("unshare", of: "util-linux", notIn: places.writable)
        guard let found = realpath("/proc/self/exe", nil) else { throw .system("this program cannot be found", errno) }
        own = String(cString: found)
        free(found)
        for number in Int32(0)...2 {
            var info = stat()
            guard fstat(number, &info) != 0 || info.st_mode & S_IFMT != S_IFDIR else {
                throw .usage("descriptor \(number) is a folder, which leads an isolated program out: redirect it")
            }
        }
        try check()
    }

    /// A program that was isolated before may have left one where it may write.
    private static func tool(
        _ name: String, of package: String, notIn writable: [String]
    ) throws(Failure) -> String {
        let folders = (Environment.value(of: "PATH") ?? "/usr/bin:/bin").split(separator: ":")
        for folder in folders where folder.hasPrefix("/") {
            guard let found = realpath("\(folder)/\(name)", nil) else { continue }
            defer { free(found) }
            let path = String(cString: found)
            let isWritable = writable.contains { IsolationPlaces.isInside(path, $0) }
            if access(path, X_OK) == 0, !isWritable { return path }
        }
        throw Failure(
            status: errSecNotAvailable,
            "--isolated needs the program \(name), which is in no folder of PATH: install the package \(package). "
                + "Nothing was started")
    }

    private func words(showing shown: [String], certificates: String? = nil) -> [String] {
        [
            unshare, "--user", "--map-current-user", "--mount", "--propagation", "private", "--", tool,
            "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
            "--unshare-cgroup-try", "--disable-userns", "--cap-drop", "ALL", "--die-with-parent",
        ] + places.words(showing: [own] + shown, certificates: certificates)
    }

    private func check() throws(Failure) {
        let outcome = ToolProcess.outcome(
            of: words(showing: []) + ["--", own, IsolatedStart.name, IsolatedStart.check], limit: 4_096,
            patience: .seconds(30))
        guard outcome?.status != 0 else { return }
        let reason = outcome?.errors.split(separator: "\n").first.map { " (\($0))" } ?? ""
        throw Failure(
            status: errSecNotAvailable,
            "--isolated: this machine makes no namespaces for the program\(reason.escapedForTerminal). It needs bwrap 0.8 "
                + "or later, and user namespaces: see the page Broker.md. Nothing was started")
    }

    /// Closes the folder of the vault that is used, wherever it is.
    mutating func hide(vaultAt path: String?) throws(Failure) {
        if let path { try places.hide(path) }
    }

    /// Starts the program, and gives `broker` the sockets at which the program finds it.
    ///
    /// - Parameters:
    ///   - folder: Of files for the program.
    ///   - output: The program's descriptors 1 and 2; nil for those of this process.
    /// - Returns: The process to wait for, which is bwrap's. Signals go to the program.
    func start(
        _ program: RunProgram, _ environment: EnvironmentBlock, showing folder: String, for broker: BrokerProcess,
        output: (standard: Int32, error: Int32)?
    ) throws(Failure) -> pid_t {
        var ends: [Int32] = [-1, -1]
        let type = Int32(truncatingIfNeeded: SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw .system("no socket can be made", errno) }
        defer { close(ends[0]) }
        var patience = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(clamping: MemoryLayout<timeval>.size))
        let process: pid_t
        do {
            defer { close(ends[1]) }
            process = try spawn(program, environment, showing: folder, link: ends[1], output)
        }
        guard let message = PassedDescriptors.receive(from: ends[0]), message.descriptors.count == databases + 2,
            let inner = message.descriptors.last
        else {
            // bwrap or the start of the program said the reason on standard error.
            kill(process, SIGKILL)
            var status: Int32 = 0
            _ = SystemCall.retryOnInterrupt { waitpid(process, &status, 0) }
            throw Failure(
                status: errSecNotAvailable,
                "the isolation of '\(program.name.escapedForTerminal)' failed: nothing was started")
        }
        let listeners = Array(message.descriptors.dropLast())
        defer { for listener in listeners { close(listener) } }
        RunSignals.direct(to: inner)
        guard broker.take(listeners: listeners), PassedDescriptors.send([], with: [1], over: ends[0]) else {
            kill(process, SIGKILL)
            throw .system("the program cannot begin", errno)
        }
        return process
    }

    private func spawn(
        _ program: RunProgram, _ environment: EnvironmentBlock, showing folder: String, link: Int32,
        _ output: (standard: Int32, error: Int32)?
    ) throws(Failure) -> pid_t {
        let filter = try Self.filter()
        defer { close(filter) }
        let block = try environment.memoryFile()
        defer { close(block) }
        let input = RelayedInput.isNeeded(for: 0) ? try RelayedInput() : nil
        defer { if let input { close(input.descriptor) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input { posix_spawn_file_actions_adddup2(&actions, input.descriptor, 0) }
        if let output {
            posix_spawn_file_actions_adddup2(&actions, output.standard, 1)
            posix_spawn_file_actions_adddup2(&actions, output.error, 2)
        }
        // Both may have one of these numbers now.
        let copies = [link, filter, block].map { fcntl($0, F_DUPFD_CLOEXEC, 16) }
        defer { for copy in copies { close(copy) } }
        for (index, copy) in copies.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, copy, IsolatedStart.link + Int32(clamping: index))
        }
        closeDescriptors(from: IsolatedStart.environment + 1, in: &actions)
        InheritedDescriptors.keep()
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        dropRaisedIdentity(in: &attributes)
        resetSignals([SIGPIPE, SIGXFSZ], in: &attributes)
        // bwrap would end at a signal that is meant for the program. The program's start takes the block away.
        var blocked = sigset_t()
        sigemptyset(&blocked)
        for number in RunSignals.passedOn { sigaddset(&blocked, number) }
        posix_spawnattr_setsigmask(&attributes, &blocked)
        let words =
            words(showing: [folder], certificates: "\(folder)/\(BrokeredSecrets.certificates)")
            + ["--seccomp", String(IsolatedStart.link + 1), "--", own, IsolatedStart.name, program.path, "--"]
        let copied = words.map { (word: String) in strdup(word) }
        defer { for word in copied { free(word) } }
        var arguments = copied + RunProgram.arguments
        var process: pid_t = 0
        let variables = ["PATH=/usr/bin:/bin", "LC_ALL=C", "\(IsolatedStart.databases)=\(databases)"].map {
            (word: String) in strdup(word)
        }
        defer { for variable in variables { free(variable) } }
        let code = posix_spawn(&process, unshare, &actions, &attributes, &arguments, variables + [nil])
        guard code == 0 else { throw .system("\(unshare.escapedForTerminal) cannot be started", code) }
        return process
    }

    // MARK: System calls

    /// A pipe with the filter of system calls, which is in force for all processes beside the program, too.
    private static func filter() throws(Failure) -> Int32 {
        guard let bytes = calls.bytes else {
            throw Failure(status: errSecNotAvailable, "--isolated works on x86-64 and AArch64 alone")
        }
        var ends: [Int32] = [-1, -1]
        guard CLibrary.pipe(&ends) == 0 else { throw .system("no pipe can be made", errno) }
        // Fits into the pipe.
        let count = write(ends[1], bytes, bytes.count)
        close(ends[1])
        guard count == bytes.count else {
            close(ends[0])
            throw .system("a pipe cannot be written", errno)
        }
        return ends[0]
    }

    private typealias Rule = SystemCallFilter.Rule
    private typealias Condition = SystemCallFilter.Condition

    private static var calls: SystemCallFilter {
        // AF_INET, AF_INET6 and AF_NETLINK, which the network namespace confines. A mount does not keep anybody from a
        // socket with a path, and no namespace from AF_VSOCK.
        let families = [2, 10, 16].map { [Condition(argument: 0, is: $0)] }
        // SOCK_STREAM and SOCK_SEQPACKET: a datagram socket could send to others than its other end.
        let pairs = [1, 5].map { [Condition(argument: 1, mask: 0xF, is: $0)] }
        // TIOCSTI and TIOCLINUX, which type on a terminal.
        let typing = [0x5412, 0x541C].map { [Condition(argument: 1, is: $0)] }
        return SystemCallFilter(refusing: [
            Rule(x86: 41, arm: 198, allowedIf: families),  // socket
            Rule(x86: 53, arm: 199, allowedIf: pairs),  // socketpair
            SystemCallFilter.rule(x86: 16, arm: 29, refusedIf: typing),  // ioctl
            // It opens sockets beside this filter.
            Rule(x86: 425, arm: 425),  // io_uring_setup
            // The session's keys are of the owner.
            Rule(x86: 248, arm: 217),  // add_key
            Rule(x86: 249, arm: 218),  // request_key
            Rule(x86: 250, arm: 219),  // keyctl
            Rule(x86: 304, arm: 265),  // open_by_handle_at
            Rule(x86: 321, arm: 280),  // bpf
            Rule(x86: 298, arm: 241),  // perf_event_open
        ])
    }
}
