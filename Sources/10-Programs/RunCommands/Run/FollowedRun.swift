import Bytes
import CLibrary
import CommandKit

/// A run of a program whose secrets are followed: when one changes, the program gets a signal, or is started again.
struct FollowedRun {
    let secrets: SecretRun
    let program: RunProgram
    let reaction: RunReaction

    /// How long the program has after SIGTERM before it gets SIGKILL.
    private static let grace = Duration.seconds(10)
    /// How long to wait after the secrets could not be read again: at first, and at most.
    private static let pauses = (first: Duration.seconds(1), longest: Duration.seconds(60))

    /// - Returns: The program's exit status.
    func run() throws -> Int32 {
        RunSignals.catchAll()
        // Before the secrets are read, so that no change falls in between.
        let notices = try secrets.lookup.follow()
        var values = try secrets.values()
        let folder = values.files.isEmpty ? nil : try MemoryFolder(otherwise: "use --env")
        defer { folder?.remove() }
        for (variable, value) in values.files { _ = try folder?.write(value, to: variable.fileName) }
        if let signal = RunSignals.early { return 128 + signal }
        let children = try Self.childNotices()
        var child = try start(values, folder)
        // When the program that is to be started again gets SIGKILL.
        var deadline: ContinuousClock.Instant?
        // When to read the secrets again that could not be read.
        var (retry, pause) = (ContinuousClock.Instant?.none, Self.pauses.first)
        while true {
            let readable = Self.wait(
                for: [children, notices.descriptor], until: [deadline, retry].compactMap(\.self).min())
            if let status = RunSignals.status(of: child, blocking: false) {
                guard deadline != nil, !RunSignals.wasAskedToEnd else { return status }
                deadline = nil
                child = try start(values, folder)
            }
            if let end = deadline, end <= .now {
                kill(child, SIGKILL)
                deadline = .now + Self.grace
            }
            let isDue = retry.map { $0 <= .now } ?? false
            guard readable.contains(notices.descriptor) || isDue else { continue }
            notices.drain()
            guard secrets.lookup.hasNews() || retry != nil else { continue }
            guard let next = read(isFirstFailure: retry == nil) else {
                retry = .now + pause
                pause = min(pause * 2, Self.pauses.longest)
                continue
            }
            (retry, pause) = (nil, Self.pauses.first)
            guard !Self.areEqual(next, values) else { continue }
            values = next
            for (variable, value) in values.files { try folder?.replace(value, name: variable.fileName) }
            switch reaction {
            case .signal(let signal): kill(child, signal.number)
            case .restart where deadline == nil:
                RunSignals.beginRestart()
                deadline = .now + Self.grace
                kill(child, SIGTERM)
            // It starts with the newest secrets when it has ended.
            case .restart: break
            }
        }
    }

    private func start(_ values: SecretRun.Values, _ folder: MemoryFolder?) throws -> pid_t {
        let environment = EnvironmentBlock()
        for (variable, value) in values.direct { try environment.set(variable.name, to: value, at: variable.place) }
        if let folder {
            for (variable, _) in values.files {
                try environment.set(variable.name, to: "\(folder.path)/\(variable.fileName)")
            }
        }
        return try RunSignals.begin { try program.start(environment, output: nil) }
    }

    /// Returns the secrets as they are now; nil if they cannot be read.
    private func read(isFirstFailure: Bool) -> SecretRun.Values? {
        secrets.lookup.lookAgain()
        do {
            return try secrets.values()
        } catch {
            if isFirstFailure {
                CommandNote.show(
                    "the secrets cannot be read again, and the program keeps those that it has: "
                        + Failure(error).message)
            }
            return nil
        }
    }

    private static func areEqual(_ first: SecretRun.Values, _ second: SecretRun.Values) -> Bool {
        first.direct.map(\.1) == second.direct.map(\.1) && first.files.map(\.1) == second.files.map(\.1)
    }

    /// Returns a descriptor that is readable whenever a child may have ended.
    private static func childNotices() throws(Failure) -> Int32 {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw .system("no pipe can be made: end other programs or raise `ulimit -n`", errno)
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            // A handler must not wait.
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        RunSignals.noticeChildren(on: ends[1])
        return ends[0]
    }

    /// Waits until one of the descriptors is readable. Takes what the first one has.
    ///
    /// - Returns: Those that are.
    private static func wait(for descriptors: [Int32], until end: ContinuousClock.Instant?) -> Set<Int32> {
        var entries = descriptors.map { pollfd(fd: $0, events: Int16(truncatingIfNeeded: POLLIN), revents: 0) }
        let milliseconds = end.map { max(.zero, ContinuousClock.now.duration(to: $0)) / .milliseconds(1) }
        let count = poll(
            &entries, nfds_t(clamping: entries.count), milliseconds.map { Int32(clamping: $0.rounded(.up)) } ?? -1)
        guard count > 0 else { return [] }
        if entries[0].revents != 0 {
            var buffer = [UInt8](repeating: 0, count: 512)
            while CLibrary.read(descriptors[0], &buffer, buffer.count) > 0 {}
        }
        return Set(entries.filter { $0.revents != 0 }.map(\.fd))
    }
}
