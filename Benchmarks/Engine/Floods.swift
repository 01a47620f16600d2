import Bytes
import Connections
import Foundation
import Frames
import Glibc
import KeychainModel
import Synchronization
import VaultInterface
import VaultService

/// What a program waits that connects, asks once and leaves, as every command does, while another one floods the
/// daemon with connections: with each kind of flood, from the same user and from another, on the daemon's own socket
/// and on the one for D-Bus.
///
/// For each, lines have the median and the 99th percentile of a new connection with a lookup, in this process and by
/// `keychain get`, without the flood and with it, the number of failures, and the threads and the memory of the
/// daemon at the end, in KiB. Only root can start the flood of another user, as user 65534.
///
/// - Returns: Whether everything is within its target.
func measureFloods(in vaults: FilledVaults, seconds: Int) throws -> Bool {
    let served = try DaemonUnderLoad("floods", in: vaults, isForAll: true, ["--system", "--secret-service"])
    defer { withExtendedLifetime(served) { served.daemon.terminate() } }
    _ = try eventually { try RemoteVault(socket: served.socket) }
    let rest = try daemonFigure(of: served.daemon, "VmRSS:")
    let newcomer = Newcomer(socket: served.socket, command: served.programs + "/keychain")
    try newcomer.prepare()
    let calm = try newcomer.work(for: .seconds(seconds))
    var isWithinTargets = true
    for place in ["socket", "bus"] {
        for user in geteuid() == 0 ? ["own", "other"] : ["own"] {
            for flood in Flood.allCases {
                let name = "floods.\(place).\(user).\(flood)"
                let arguments = ["flood", served.folder + "/" + place, flood.rawValue]
                let attacker =
                    user == "own"
                    ? try start(served.hostile, arguments)
                    : try start(
                        "/usr/bin/setpriv",
                        ["--reuid", "65534", "--regid", "65534", "--clear-groups", served.hostile] + arguments)
                usleep(300_000)
                let busy = try newcomer.work(for: .seconds(seconds))
                let threads = try daemonFigure(of: served.daemon, "Threads:")
                let memory = try daemonFigure(of: served.daemon, "VmRSS:") - rest
                if !attacker.isRunning { report("the flood ended: \(flood)") }
                kill(attacker.processIdentifier, SIGKILL)
                attacker.waitUntilExit()
                show(name, calm.connections, busy.connections, kind: "connection")
                show(name, calm.commands, busy.commands, kind: "command")
                print("\(name).threads", threads, separator: "\t")
                print("\(name).memory", memory, separator: "\t")
                fflush(nil)
                let isSlow = busy.commands.percentile(99) > 10 * calm.commands.percentile(99)
                if isSlow || threads > 64 || busy.commands.failures + busy.connections.failures > 0 {
                    isWithinTargets = false
                }
            }
        }
    }
    return isWithinTargets
}

private func show(_ name: String, _ before: CallTimes, _ during: CallTimes, kind: String) {
    for (what, number) in [
        ("p50", before.percentile(50)), ("p99", before.percentile(99)), ("busy-p50", during.percentile(50)),
        ("busy-p99", during.percentile(99)), ("failed", Double(during.failures)),
    ] { print("\(name).\(kind).\(what)", number, separator: "\t") }
}

/// A daemon, with a rule for this program, and one for a hostile copy of it.
struct DaemonUnderLoad {
    /// The folder with the socket.
    let folder: String
    /// The path of the hostile program.
    let hostile: String
    /// The folder with the programs.
    let programs: String
    let daemon: Process
    private let scratch: ScratchVaults

    var socket: String { folder + "/socket" }

    /// - Parameters:
    ///   - isForAll: Whether other users may connect.
    ///   - options: Further options of the daemon.
    init(_ name: String, in vaults: FilledVaults, isForAll: Bool, _ options: [String] = []) throws {
        scratch = try ScratchVaults(vaults)
        let home = try scratch.copyFolder(100, name)
        folder = home + "-run"
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        programs = (own as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true,
            attributes: [.posixPermissions: isForAll ? 0o755 : 0o700])
        hostile = folder + "/hostile"
        try FileManager.default.copyItem(atPath: own, toPath: hostile)
        let rules = [own, hostile].map { path in
            #"{"executable": "\#(path)", "groups": ["\#(path == own ? "benchmark" : "hostile")"]}"#
        }
        try Data(#"{"version": 1, "rules": [\#(rules.joined(separator: ", "))]}"#.utf8)
            .write(to: URL(fileURLWithPath: folder + "/rules"))
        chmod(folder + "/rules", 0o600)
        daemon = try start(
            programs + "/keychaind",
            ["--socket", folder + "/socket", "--home", home, "--entitlements", folder + "/rules", "--log", "error"]
                + options)
    }
}

/// A program that connects for each call.
private struct Newcomer {
    let socket: String
    let command: String

    func prepare() throws {
        let environment = ["KEYCHAIN_SOCKET": socket, "PATH": "/usr/bin:/bin"]
        let process = Process()
        process.executableURL = URL(fileURLWithPath: command)
        process.arguments = ["set", "flood", "alice"]
        process.environment = environment
        let input = Pipe()
        process.standardInput = input
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data("secret".utf8))
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw RawStore.Failure(reason: "keychain set failed") }
    }

    func work(for time: Duration) throws -> (connections: CallTimes, commands: CallTimes) {
        var (connections, commands) = (CallTimes(), CallTimes())
        let end = ContinuousClock.now + time
        var number = 0
        while ContinuousClock.now < end {
            number += 1
            connections.measure {
                let vault = try RemoteVault(socket: socket)
                defer { vault.close() }
                let query = SampleItems.query(number % 100)
                let found = try SampleItems.session(vault).perform(CopyItems(query, includingValues: true))
                guard found.first?.value?.count == 32 else { throw RawStore.Failure(reason: "wrong item") }
            }
            commands.measure {
                try runCommand()
            }
            // No flood of its own.
            usleep(5_000)
        }
        return (connections, commands)
    }
}

extension Newcomer {
    /// Runs `keychain get`. Foundation's `Process` notices the end of a program up to 50 ms late.
    fileprivate func runCommand() throws {
        func list(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] { texts.map { strdup($0) } + [nil] }
        let arguments = list([command, "get", "flood", "alice"])
        let environment = list(["KEYCHAIN_SOCKET=\(socket)", "PATH=/usr/bin:/bin"])
        defer { for text in arguments + environment { free(text) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        var process: pid_t = 0
        guard posix_spawn(&process, command, &actions, nil, arguments, environment) == 0 else {
            throw RawStore.Failure(reason: "keychain cannot be started")
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else { throw RawStore.Failure(reason: "keychain get failed") }
    }
}

/// What a program does with connections until it is killed.
enum Flood: String, CaseIterable {
    /// Connects, and says nothing.
    case held
    /// Announces 2 GiB, and says no more.
    case halfOpen = "half-open"
    /// Sends what is no greeting.
    case garbage
    /// Connects, and leaves at once.
    case closed

    /// Keeps as many connections open as it may.
    func begin(on path: String) {
        var files = rlimit()
        getrlimit(__rlimit_resource_t(truncatingIfNeeded: RLIMIT_NOFILE.rawValue), &files)
        files.rlim_cur = files.rlim_max
        setrlimit(__rlimit_resource_t(truncatingIfNeeded: RLIMIT_NOFILE.rawValue), &files)
        let group = DispatchGroup()
        for _ in 0..<8 {
            group.enter()
            Thread.detachNewThread {
                var open: [Int32] = []
                while true {
                    guard let socket = try? UnixSocket.connect(to: path) else { continue }
                    send(on: socket)
                    if self == .closed || self == .garbage {
                        close(socket)
                        continue
                    }
                    open.append(socket)
                    if open.count > 2_500 {
                        for socket in open { close(socket) }
                        open = []
                    }
                }
            }
        }
        group.wait()
    }

    private func send(on socket: Int32) {
        let bytes: [UInt8] =
            switch self {
            case .held, .closed: []
            case .halfOpen: [0x7F, 0xFF, 0xFF, 0xFF, 1]
            case .garbage: [UInt8](repeating: 0xA5, count: 512)
            }
        guard !bytes.isEmpty else { return }
        _ = Glibc.send(socket, bytes, bytes.count, Int32(truncatingIfNeeded: MSG_NOSIGNAL))
    }
}

private func daemonFigure(of daemon: Process, _ name: String) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(daemon.processIdentifier)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
}
