import Bytes
import CLibrary
import CommandKit
import SystemLibraries

/// What runs inside of the isolation before the program, and becomes the program.
package enum IsolatedStart {
    /// The first argument of this program that asks for it.
    package static let name = "isolated-start"
    /// The second one, to end at once: everything that the start needs is there.
    static let check = "check"
    /// The descriptor of the socket to `keychain run`.
    static let link: Int32 = 3
    /// That of the program's environment. bwrap itself does not get it: outside of the isolation, some variables would
    /// have it load what the program wrote before.
    static let environment: Int32 = 5
    /// The variable with the number of rules for PostgreSQL.
    static let databases = "KEYCHAIN_ISOLATED_DATABASES"

    /// - Parameter arguments: The command line, with the program's name.
    package static func main(_ arguments: [String]) -> Never {
        guard arguments.count > 3 else { exit(arguments.last == check ? 0 : ExitStatus.usage) }
        let databases = getenv(databases).flatMap { Int(String(cString: $0)) } ?? 0
        var sockets: [Int32] = []
        for port in [Isolation.port] + (0..<max(0, databases)).map(Isolation.databasePort) {
            guard let listener = listener(at: port) else { end("no socket can be made for the broker", errno) }
            sockets.append(listener)
        }
        // pidfd_open(2), which has this number on all architectures.
        let own = Int32(truncatingIfNeeded: systemCall(434, Int(getpid())))
        guard own >= 0 else { end("the program cannot be named", errno) }
        guard PassedDescriptors.send(sockets + [own], with: [1], over: link) else { end("no broker", errno) }
        // Nobody is there to answer if `keychain run` was killed.
        guard PassedDescriptors.receive(from: link) != nil else { exit(ExitStatus.other) }
        takeEnvironment()
        // What is open besides 0, 1 and 2 closes when the program replaces this one.
        leaveGroup()
        var blocked = sigset_t()
        sigemptyset(&blocked)
        for number in RunSignals.passedOn { sigaddset(&blocked, number) }
        sigprocmask(SIG_UNBLOCK, &blocked, nil)
        let name = RunProgram.arguments.first?.map { String(cString: $0) }
        let program = RunProgram(name ?? arguments[2], at: arguments[2])
        let failure = program.replaceThisProcess(EnvironmentBlock())
        CommandNote.show(failure.message)
        exit(failure.exitCode)
    }

    /// Gives this process, and so the program, the environment that `keychain run` made.
    private static func takeEnvironment() {
        // The folder is known to bwrap alone.
        let folder = getenv("PWD").flatMap { strdup($0) }
        clearenv()
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = SystemCall.retryOnInterrupt({ read(environment, &buffer, buffer.count) }), count > 0 {
            bytes += buffer[..<count]
        }
        close(environment)
        for variable in bytes.split(separator: 0) {
            let text = (Array(variable) + [0]).map { CChar(bitPattern: $0) }
            // The environment keeps the copy.
            text.withUnsafeBufferPointer { if let base = $0.baseAddress { _ = putenv(strdup(base)) } }
        }
        for name in withoutPlaces { unsetenv(name) }
        setenv("TMPDIR", "/tmp", 1)
        if let folder { setenv("PWD", folder, 1) }
    }

    /// Variables that name what the program does not reach.
    private static let withoutPlaces = [
        "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "DISPLAY", "DOCKER_HOST", "GPG_AGENT_INFO",
        "KEYCHAIN_HOME", "KEYCHAIN_MODE", "KEYCHAIN_SOCKET", "SSH_AGENT_PID", "SSH_AUTH_SOCK", "WAYLAND_DISPLAY",
        "XDG_RUNTIME_DIR",
    ]

    /// Listens at a place of the broker, on a loopback interface that only the program has.
    private static func listener(at port: Int) -> Int32? {
        let type = Int32(truncatingIfNeeded: SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let socket = socket(AF_INET, type, 0)
        guard socket >= 0 else { return nil }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(clamping: AF_INET)
        address.sin_port = in_port_t(clamping: port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let isBound = withUnsafeBytes(of: &address) { bytes in
            bind(socket, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(clamping: bytes.count))
        }
        return isBound == 0 && listen(socket, 512) == 0 ? socket : nil
    }

    /// Leaves the group of processes outside, which gets what the program sends to its own group. With a terminal the
    /// program stays in it: it would not read from the terminal otherwise.
    private static func leaveGroup() {
        let terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
        if terminal < 0 { setpgid(0, 0) } else { close(terminal) }
    }

    private static func end(_ what: String, _ code: Int32) -> Never {
        CommandNote.show(Failure.system(what, code).message)
        exit(ExitStatus.other)
    }
}
