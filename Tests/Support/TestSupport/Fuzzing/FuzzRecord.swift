import Foundation
import Glibc
import Synchronization

/// The file with the present input. The kernel keeps it even if the process ends at the next instruction.
struct FuzzRecord {
    let path: String
    private let file: Int32

    init(_ name: String) throws {
        let folder = ProcessInfo.processInfo.environment["KEYCHAIN_FUZZ_FOLDER"] ?? NSTemporaryDirectory()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        path = folder + "/fuzz-\(name).input"
        file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw CocoaError(.fileWriteNoPermission) }
    }

    func write(_ input: Data) throws {
        let written = input.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, 0) }
        guard written == input.count, ftruncate(file, input.count) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    func remove() {
        close(file)
        unlink(path)
    }
}

/// Ends the process if one input takes too much time or memory. The input stays in its file.
final class FuzzWatch: Sendable {
    private let beats = Atomic<Int>(0)
    private let isOver = Atomic<Bool>(false)
    /// In microseconds.
    private static let interval: UInt32 = 200_000

    init(_ name: String, _ record: FuzzRecord, patience: Int, memoryLimit: Int) {
        Thread.detachNewThread { [self] in
            // Counts intervals instead of measuring time, so that a machine that stops for a while causes no failure.
            var (last, waits) = (-1, 0)
            while !isOver.load(ordering: .relaxed) {
                usleep(Self.interval)
                let now = beats.load(ordering: .relaxed)
                (last, waits) = now == last ? (last, waits + 1) : (now, 0)
                let isSlow = waits > patience * 1_000_000 / Int(Self.interval)
                guard isSlow || ProcessMemory.residentBytes > memoryLimit else { continue }
                let what = isSlow ? "takes more than \(patience) s" : "takes more than \(memoryLimit >> 20) MB"
                let message = "fuzz \(name): an input \(what); replay with KEYCHAIN_FUZZ_REPLAY=\(record.path)\n"
                FileHandle.standardError.write(Data(message.utf8))
                abort()
            }
        }
    }

    func beat() { beats.wrappingAdd(1, ordering: .relaxed) }
    func stop() { isOver.store(true, ordering: .relaxed) }
}

/// Writes one line to a terminal and overwrites it every second. Writes nothing without a terminal.
final class FuzzProgress {
    private let terminal: FileHandle?
    private var shown = ContinuousClock.now

    init(_ path: String?) {
        terminal = path.flatMap { FileHandle(forWritingAtPath: $0) }
    }

    func show(_ line: @autoclosure () -> String) {
        guard let terminal, ContinuousClock.now - shown > .seconds(1) else { return }
        shown = .now
        terminal.write(Data("\r\u{1B}[K\(line())".utf8))
    }

    func clear() { terminal?.write(Data("\r\u{1B}[K".utf8)) }
}

extension ProcessMemory {
    /// The present memory of this process in bytes (proc_pid_statm(5)).
    static var residentBytes: Int {
        let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
        return fields.dropFirst().first.flatMap { Int($0) }.map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) } ?? 0
    }

    /// The processor time of this thread.
    package static var threadTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// The largest memory of this process so far in MiB (getrusage(2), which counts in KiB).
    static var peakMegabytes: Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss >> 10
    }
}
