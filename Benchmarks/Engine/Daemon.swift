import Connections
import Foundation
import Frames
import Glibc
import KeychainModel
import Synchronization
import VaultInterface
import VaultService

/// Lookups through a daemon, by one client and by more at once, in turns with the least that asking another process can
/// cost: 256 bytes to a server with a thread for each connection, and back.
///
/// Each line of output is a name and the median and the 99th percentile in microseconds, or operations a second.
func measureDaemon(in vaults: FilledVaults, count: Int, rounds: Int) throws {
    let scratch = try ScratchVaults(vaults)
    let home = try scratch.copyFolder(count, "daemon")
    let folder = home + "-run"
    let daemon = try BenchmarkDaemon(home, run: folder)
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let echo = try start(own, ["echo", folder + "/echo"])
    defer {
        daemon.end()
        echo.terminate()
    }
    let vault = daemon.vault
    close(try eventually { try UnixSocket.connect(to: folder + "/echo") })

    for clients in [1, 2, 4, 8, 16, 64] {
        let (lookups, floor) = (Latencies(), Latencies())
        for round in -1..<rounds {
            try floor.measure(clients, counts: round >= 0) {
                let socket = try UnixSocket.connect(to: folder + "/echo")
                return { try bounce(socket) }
            }
            try lookups.measure(clients, counts: round >= 0) {
                var random = FastRandom(seed: UInt64.random(in: 0 ... .max))
                return {
                    let query = SampleItems.query(Int.random(in: 0..<count, using: &random))
                    let found = try SampleItems.session(vault).perform(CopyItems(query, includingValues: true))
                    guard found.first?.value?.count == 32 else { throw RawStore.Failure(reason: "wrong item") }
                }
            }
        }
        lookups.emit("daemon.lookup.\(clients)")
        floor.emit("daemon.floor.\(clients)")
    }
}

/// A daemon of its own, which serves this program.
final class BenchmarkDaemon {
    let vault: RemoteVault
    private let process: Process

    init(_ home: String, run folder: String) throws {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        for path in [home, folder] {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        let rule = #"{"executable": "\#(own)", "groups": ["benchmark"], "rights": ["list"]}"#
        let rules = #"{"version": 1, "rules": [\#(rule)]}"#
        try Data(rules.utf8).write(to: URL(fileURLWithPath: folder + "/rules"))
        chmod(folder + "/rules", 0o600)
        process = try start(
            (own as NSString).deletingLastPathComponent + "/keychaind",
            [
                "--socket", folder + "/socket", "--home", home, "--entitlements", folder + "/rules", "--rate", "0",
                "--log", "error",
            ])
        vault = try eventually { try RemoteVault(socket: folder + "/socket") }
    }

    func end() { process.terminate() }
}

/// Sends 256 bytes back and forth.
func bounce(_ socket: Int32) throws {
    var bytes = [UInt8](repeating: 1, count: 256)
    guard send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count,
        recv(socket, &bytes, bytes.count, Int32(MSG_WAITALL)) == bytes.count
    else { throw POSIXError(.EIO) }
}

/// The other end: a process that sends back what it is sent.
///
/// - Parameter work: How long it keeps a processor busy first.
func serveEchoes(at path: String, working work: Duration = .zero) throws {
    let listener = try UnixSocket.listen(at: path, mode: 0o600)
    while true {
        let socket = accept(listener, nil, nil)
        guard socket >= 0 else { continue }
        Thread.detachNewThread {
            var bytes = [UInt8](repeating: 0, count: 256)
            while recv(socket, &bytes, bytes.count, Int32(MSG_WAITALL)) == bytes.count, work.isSpent(),
                send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
            {}
            close(socket)
        }
    }
}

extension Duration {
    /// Keeps a processor busy for so long.
    fileprivate func isSpent() -> Bool {
        let end = ContinuousClock.now + self
        while self > .zero, ContinuousClock.now < end {}
        return true
    }
}

/// How long operations of several threads took.
private final class Latencies: Sendable {
    private struct State {
        var seconds: [Double] = []
        var perSecond: [Double] = []
        var failure: (any Error)?
    }

    private let state = Mutex(State())
    /// How many operations the clients share, and the most of one.
    private static let (operations, mostOfOne) = (16_000, 2_000)

    /// - Parameter prepare: Makes what one client does again and again.
    func measure(
        _ clients: Int, counts: Bool, _ prepare: @escaping @Sendable () throws -> () throws -> Void
    ) throws {
        let operations = min(Self.mostOfOne, Self.operations / clients)
        let group = DispatchGroup()
        let start = Clock.elapsed.seconds()
        for _ in 0..<clients {
            group.enter()
            Thread.detachNewThread { [self] in
                defer { group.leave() }
                do {
                    let operation = try prepare()
                    var seconds: [Double] = []
                    for _ in 0..<operations {
                        let begin = Clock.elapsed.seconds()
                        try operation()
                        seconds.append(Clock.elapsed.seconds() - begin)
                    }
                    state.withLock { if counts { $0.seconds += seconds } }
                } catch {
                    state.withLock { $0.failure = error }
                }
            }
        }
        group.wait()
        let rate = Double(clients * operations) / (Clock.elapsed.seconds() - start)
        try state.withLock { state in
            if counts { state.perSecond.append(rate) }
            if let failure = state.failure { throw failure }
        }
    }

    func emit(_ name: String) {
        state.withLock { state in
            let sorted = state.seconds.sorted()
            let rates = state.perSecond.sorted()
            guard !sorted.isEmpty else { return }
            print("\(name).p50\t\(sorted[sorted.count / 2] * 1e6)")
            print("\(name).p99\t\(sorted[sorted.count * 99 / 100] * 1e6)")
            print("\(name).rate\t\(rates[rates.count / 2])")
        }
    }
}

/// Starts a program that ends with this one, also when a signal ends it: otherwise it would spoil what is measured
/// next.
func start(_ program: String, _ arguments: [String]) throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
    process.arguments = ["--pdeathsig", "KILL", program] + arguments
    try process.run()
    return process
}

func eventually<Result>(_ body: () throws -> Result) throws -> Result {
    for _ in 0..<500 {
        if let result = try? body() { return result }
        usleep(10_000)
    }
    return try body()
}
