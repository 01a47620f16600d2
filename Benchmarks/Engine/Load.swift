import Access
import Bytes
import Connections
import DaemonLink
import Foundation
import Frames
import Glibc
import KeychainModel
import Synchronization
import VaultInterface
import VaultService

/// What a client of a daemon waits while another program, which holds one group and no right, asks for all that it can.
///
/// For each attack, lines have the honest client's median and 99th percentile in microseconds, without the attack and
/// with it, the longest time with it, and how many calls failed. The last line is the memory that the daemon took
/// beyond what it had at rest, in KiB. The daemon may grow by 512 MiB of addresses.
///
/// - Returns: Whether everything is within its target.
func measureLoad(in vaults: FilledVaults, seconds: Int) throws -> Bool {
    let served = try DaemonUnderLoad("load", in: vaults, isForAll: false)
    let (daemon, socket, hostile) = (served.daemon, served.socket, served.hostile)
    defer { withExtendedLifetime(served) { daemon.terminate() } }
    let vault = try eventually { try RemoteVault(socket: socket) }
    report("hostile items are being made")
    try run(hostile, ["attack", socket, "prepare"])

    let honest = HonestClient(vault)
    let rest = try memory(of: daemon.processIdentifier, "VmRSS:")
    try limitAddresses(of: daemon.processIdentifier)
    var isWithinTargets = true
    var growth = 0
    for attack in Attack.allCases {
        let before = try honest.work(for: .seconds(seconds))
        // From here on, the largest memory is that of the attack (proc(5), clear_refs).
        try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/\(daemon.processIdentifier)/clear_refs"))
        let attackers = try (0..<attack.processes).map { _ in
            try start(hostile, ["attack", socket, attack.rawValue])
        }
        usleep(500_000)
        let during = try honest.work(for: .seconds(seconds))
        for attacker in attackers {
            if !attacker.isRunning { report("an attacker ended: \(attack)") }
            kill(attacker.processIdentifier, SIGKILL)
            attacker.waitUntilExit()
        }
        for (name, calm, busy) in [
            ("lookup", before.lookups, during.lookups), ("update", before.updates, during.updates),
        ] {
            for (what, number) in [
                ("p50", calm.percentile(50)), ("p99", calm.percentile(99)), ("busy-p50", busy.percentile(50)),
                ("busy-p99", busy.percentile(99)), ("busy-longest", busy.percentile(100)),
                ("failed", Double(busy.failures)),
            ] {
                print("load.\(attack).\(name).\(what)", number, separator: "\t")
            }
            fflush(nil)
            if busy.failures > 0 || attack != .talk && busy.percentile(99) > 10 * calm.percentile(99) {
                isWithinTargets = false
            }
        }
        let grown = try memory(of: daemon.processIdentifier, "VmHWM:") - rest
        report("\(attack): the daemon grew by \(grown >> 10) MiB")
        growth = max(growth, grown)
    }
    print("load.memory", growth, separator: "\t")
    return isWithinTargets && growth <= 256 << 10
}

/// How long calls took.
struct CallTimes {
    var seconds: [Double] = []
    var failures = 0

    mutating func measure(_ body: () throws -> Void) {
        let begin = Clock.elapsed.seconds()
        do { try body() } catch {
            report("an honest call failed: \(error)")
            failures += 1
        }
        seconds.append(Clock.elapsed.seconds() - begin)
    }

    /// In microseconds.
    func percentile(_ percent: Int) -> Double {
        let sorted = seconds.sorted()
        return sorted.isEmpty ? .infinity : sorted[(sorted.count - 1) * percent / 100] * 1e6
    }
}

/// A program that does its own work, one call after the other.
private struct HonestClient {
    private let vault: RemoteVault

    init(_ vault: RemoteVault) { self.vault = vault }

    func work(for time: Duration) throws -> (lookups: CallTimes, updates: CallTimes) {
        var (lookups, updates) = (CallTimes(), CallTimes())
        let session = SampleItems.session(vault)
        let end = ContinuousClock.now + time
        var number = 0
        while ContinuousClock.now < end {
            number += 1
            let query = SampleItems.query(number % 100)
            lookups.measure {
                let found = try session.perform(CopyItems(query, includingValues: true))
                guard found.first?.value?.count == 32 else { throw RawStore.Failure(reason: "wrong item") }
            }
            guard number % 20 == 0 else { continue }
            updates.measure {
                _ = try session.perform(
                    UpdateItems(query, with: ItemChanges(attributes: [.label: .string("changed \(number)")])))
            }
        }
        return (lookups, updates)
    }
}

/// What a hostile program does until it is killed.
enum Attack: String, CaseIterable {
    /// Asks for 640 MiB of its own and reads nothing of it.
    case unread
    /// Lists its 40,000 items on 100 connections, and hangs up half of the time.
    case lists
    /// Asks on 40 connections for everything that ever changed.
    case changes
    /// Begins more requests than there can be connections, and ends none.
    case halves
    /// Changes as many items at once as it may.
    case updates
    /// Tries wrong application passwords on 100 connections.
    case passwords
    /// Looks for its items as fast as it can, to fill the audit log.
    case looks
    /// Asks the daemon for nothing. Its threads talk to each other as often as `looks` may look, and work as long for
    /// it: what the machine lets others wait then, whatever the daemon does.
    case talk

    /// How many processes do it.
    var processes: Int { self == .looks || self == .talk ? 2 : 1 }

    /// Requests a second of all its processes: those that the daemon lets a program make.
    private static let rate = 10_000.0
    /// What the daemon works for one of them.
    private static let work = Duration.microseconds(25)

    /// Its group is the one that a program has of its own, and the only one that it may list without a right.
    static let client = Client(
        identifier: "hostile",
        accessGroups: [(try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""])
    private static let items = 40_000
    /// As many as one call may change.
    private static let updated = 1_000
    private static let largeItems = 5

    /// Stores what the attacks ask for.
    static func prepare(_ socket: String) throws {
        let vault = try RemoteVault(socket: socket)
        let failure = Mutex<(any Error)?>(nil)
        onThreads(8) { thread in
            let session = VaultSession(vault: vault, client: client)
            do {
                for number in stride(from: thread, to: items, by: 8) {
                    let service = number < updated ? "updated" : "many"
                    _ = try session.perform(AddItem(item(service, number, size: 16)))
                }
            } catch {
                failure.withLock { $0 = error }
            }
        }
        if let error = failure.withLock({ $0 }) { throw error }
        let session = VaultSession(vault: vault, client: client)
        for number in 0..<largeItems { _ = try session.perform(AddItem(item("large", number, size: 16 << 20))) }
        var guarded = item("guarded", 0, size: 16)
        guarded.accessControl = AccessControl(protection: .whenUnlocked, flags: .applicationPassword)
        guarded.authentication.applicationPassword = try SecretBytes("right")
        _ = try session.perform(AddItem(guarded))
    }

    func begin(on socket: String) throws {
        var files = rlimit()
        getrlimit(__rlimit_resource_t(truncatingIfNeeded: RLIMIT_NOFILE.rawValue), &files)
        files.rlim_cur = files.rlim_max
        setrlimit(__rlimit_resource_t(truncatingIfNeeded: RLIMIT_NOFILE.rawValue), &files)
        let vault = try RemoteVault(socket: socket)
        let session = VaultSession(vault: vault, client: Self.client)
        let step: @Sendable (Int) throws -> Void
        switch self {
        case .unread: step = { _ in try Self.askWithoutReading(socket) }
        case .lists:
            let list = CopyItems(Self.query("many"), includingValues: false)
            step = { thread in
                if thread % 2 == 0 {
                    _ = try session.perform(list)
                } else {
                    try Self.send(list, on: Self.greeted(socket))
                    usleep(20_000)
                }
            }
        case .changes: step = { _ in _ = try session.perform(ChangesSince(0)) }
        case .halves:
            let open = OpenConnections()
            step = { _ in try open.begin(Self.greeted(socket)) }
        case .updates:
            step = { _ in
                let changes = ItemChanges(attributes: [.label: .string("\(UInt64.random(in: 0 ... .max))")])
                _ = try session.perform(UpdateItems(Self.query("updated"), with: changes))
            }
        case .passwords:
            step = { _ in
                var query = Self.query("guarded")
                query.authentication.applicationPassword = try SecretBytes("wrong")
                _ = try session.perform(CopyItems(query, includingValues: true))
            }
        case .looks:
            step = { _ in
                var query = Self.query("many")
                query.attributes[.account] = .string("\(Self.updated + Int.random(in: 0..<30_000))")
                _ = try session.perform(CopyItems(query, includingValues: false))
            }
        case .talk: step = { _ in try talk(at: socket + ".talk.\(getpid())") }
        }
        let known = Mutex<Set<String>>([])
        Self.onThreads(threads) { number in
            // An error of one try, such as a wrong password, may be what is wanted. Whoever measures sees each once.
            repeat {
                do { try step(number) } catch {
                    if known.withLock({ $0.insert("\(error)").inserted }) { report("\(self): \(error)") }
                }
            } while true
        }
    }

    /// How many threads of a process do it.
    private var threads: Int {
        switch self {
        case .lists, .passwords: 100
        case .changes: 40
        case .unread, .updates: 8
        case .looks, .talk: 4
        case .halves: 1
        }
    }

    /// Talks to a server in this process, for ever.
    private func talk(at path: String) throws {
        Self.server.withLock { isStarted in
            if !isStarted { Thread.detachNewThread { try? serveEchoes(at: path, working: Self.work) } }
            isStarted = true
        }
        let socket = try eventually { try UnixSocket.connect(to: path) }
        let pause = 1e6 * Double(processes * threads) / Self.rate
        let begin = Clock.elapsed.seconds()
        for number in 0... {
            try bounce(socket)
            let ahead = Double(number) * pause - (Clock.elapsed.seconds() - begin) * 1e6
            if ahead > 0 { usleep(useconds_t(clamping: ahead)) }
        }
    }

    private static let server = Mutex(false)

    /// Asks for everything, and reads nothing until the daemon gives up.
    private static func askWithoutReading(_ path: String) throws {
        let connection = try greeted(path)
        try send(CopyItems(query("large"), includingValues: true), on: connection)
        var polled = pollfd(fd: connection.descriptor, events: 0, revents: 0)
        while poll(&polled, 1, 1_000) == 0 {}
    }

    private static func item(_ service: String, _ number: Int, size: Int) -> NewItem {
        NewItem(
            itemClass: .genericPassword,
            attributes: [.service: .string(service), .account: .string("\(number)")],
            value: Data(repeating: 7, count: size))
    }

    private static func query(_ service: String) -> ItemQuery {
        ItemQuery(itemClass: .genericPassword, attributes: [.service: .string(service)], limit: nil)
    }

    private static func greeted(_ path: String) throws -> FrameSocket {
        let socket = FrameSocket(try UnixSocket.connect(to: path))
        let frame = FrameBuffer()
        frame.appendFrame(.hello) { Hello().encode(to: frame) }
        try socket.send(frame, within: .seconds(10))
        _ = try socket.receive(into: frame, limit: 1 << 16, first: .seconds(10), rest: .seconds(10))
        return socket
    }

    private static func send(_ operation: CopyItems, on socket: FrameSocket) throws {
        let frame = FrameBuffer()
        frame.appendRequest(operation, claim: client, canAsk: false)
        try socket.send(frame, within: .seconds(10))
    }

    /// Runs `body` on several threads, and waits for them.
    private static func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let group = DispatchGroup()
        for number in 0..<count {
            group.enter()
            Thread.detachNewThread {
                body(number)
                group.leave()
            }
        }
        group.wait()
    }
}

/// Connections with half a request.
private final class OpenConnections: @unchecked Sendable {
    // Only one thread uses it.
    private var open: [FrameSocket] = []

    func begin(_ connection: FrameSocket) {
        let half: [UInt8] = [0, 0, 1, 0, 2]
        _ = Glibc.send(connection.descriptor, half, half.count, Int32(truncatingIfNeeded: MSG_NOSIGNAL))
        open.append(connection)
        if open.count > 2_200 { open.removeFirst() }
    }
}

private func run(_ program: String, _ arguments: [String]) throws {
    let process = try start(program, arguments)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw RawStore.Failure(reason: "\(arguments) failed") }
}

/// A figure of `/proc/PID/status`, in KiB.
private func memory(of process: pid_t, _ name: String) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
    guard let number = line?.split(separator: " ").dropLast().last.flatMap({ Int($0) }) else {
        throw RawStore.Failure(reason: "no \(name) of process \(process)")
    }
    return number
}

/// Lets a process have 512 MiB more of addresses than now.
private func limitAddresses(of process: pid_t) throws {
    let bytes = try (memory(of: process, "VmSize:") + (512 << 10)) << 10
    try run("/usr/bin/prlimit", ["--pid", "\(process)", "--as=\(bytes)"])
}
