import Bytes
import CLibrary
import SystemLibraries

/// The processes that read what programs say in the bus's protocol, which a library of the system parses. They have no
/// keys, no files and no network, and a fault in one of them is the end of one program's conversations.
///
/// A starter begins them: it is started before its parent has any secret, and gets no message of a program.
package enum BusFront {
    /// The name under which this program is started as a starter.
    package static let name = "keychain-bus-front"
    /// The name under which a program sees the service, without a bus.
    package static let serviceName = ":1.0"

    /// What the fronts of a starter serve.
    package enum Purpose: String, Sendable {
        /// Programs that take a socket of ours for their bus.
        case programs
        /// A bus.
        case bus
    }

    /// The starter's descriptor of the socket to its parent.
    static let control: Int32 = 3

    /// The starter.
    ///
    /// - Parameter arguments: The command line, with the program's name.
    package static func main(_ arguments: [String]) -> Never {
        guard let purpose = Purpose(rawValue: arguments.last ?? "") else { exit(64) }
        prepare()
        guard case .success = SDBus.loaded else {
            if case .failure(let error) = SDBus.loaded { tell(["!\(error)"]) }
            exit(69)
        }
        let measures = FrontConfinement.begin(keepingFiles: purpose == .bus)
        tell(measures)
        keepStarting(purpose)
    }

    private static func prepare() {
        // A service manager sends a stop to all processes at once, and the daemon still has to answer: these processes
        // end when the daemon closes its socket.
        for number in [SIGPIPE, SIGTERM, SIGINT, SIGHUP] { signal(number, SIG_IGN) }
        // Where memory is short, the kernel ends fronts before the daemon (proc(5)).
        let score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)
        if score >= 0 {
            _ = write(score, "800", 3)
            close(score)
        }
        for descriptor in Int32(0)...2 {
            let null = open("/dev/null", O_RDWR)
            if null >= 0, null != descriptor {
                dup2(null, descriptor)
                close(null)
            }
        }
        var limit = rlimit()
        let descriptors = __rlimit_resource_t(truncatingIfNeeded: RLIMIT_NOFILE.rawValue)
        if getrlimit(descriptors, &limit) == 0 {
            limit.rlim_cur = limit.rlim_max
            setrlimit(descriptors, &limit)
        }
    }

    /// Tells the parent that this one is ready, and which measures are not in force.
    private static func tell(_ lines: [String]) {
        _ = PassedDescriptors.send([], with: Array(("ready\n" + lines.joined(separator: "\n")).utf8), over: control)
    }

    /// Keeps a child that starts fronts, and starts another one if somebody ends it: the parent, which has secrets by
    /// then, can start no program.
    private static func keepStarting(_ purpose: Purpose) -> Never {
        FrontConfinement.name("kc-bus-guard")
        while true {
            let child = fork()
            if child == 0 { serve(purpose) }
            guard child > 0 else {
                usleep(100_000)
                continue
            }
            var status: Int32 = 0
            _ = SystemCall.retryOnInterrupt { waitpid(child, &status, 0) }
            // It ended by itself when the parent was gone.
            if status == 0 { _exit(0) }
            usleep(10_000)
        }
    }

    private static func serve(_ purpose: Purpose) -> Never {
        FrontConfinement.name("kc-bus-start")
        // The kernel removes fronts that end.
        signal(SIGCHLD, SIG_IGN)
        while let message = PassedDescriptors.receive(from: control) {
            guard let socket = message.descriptors.first else { continue }
            let child = fork()
            if child == 0 {
                close(control)
                FrontConfinement.name("kc-bus-front")
                switch purpose {
                case .programs:
                    if FrontConfinement.finish() { FrontOfProgram(control: socket).run() }
                case .bus: serveBus(message.bytes, socket)
                }
                _exit(0)
            }
            for descriptor in message.descriptors { close(descriptor) }
        }
        _exit(0)
    }

    private static func serveBus(_ bytes: [UInt8], _ socket: Int32) {
        guard let place = BusPlace(bytes) else { return }
        let link = FrontLink(socket)
        do throws(BusError) {
            let front = try FrontOnBus(place, link)
            let missing = FrontConfinement.begin(keepingFiles: false)
            guard FrontConfinement.finish() else { throw .system(operation: "seccomp", errno: errno) }
            link.report(.ready(missing))
            front.run()
        } catch {
            link.report(.failed("\(error)"))
            try? link.flush()
        }
    }

    /// `fork(2)`, which Swift declares as unavailable because of threads. There is one here.
    private static func fork() -> pid_t {
        let call: (@convention(c) () -> pid_t)? = libraryFunction("fork")
        return call?() ?? -1
    }
}
