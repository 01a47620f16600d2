import Foundation
import Glibc
import Synchronization

/// The file that holds the input that is being tried. The kernel has it even if the process ends in the next instruction.
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

/// Ends the process, and leaves the input, when one input takes too long or too much memory.
final class FuzzWatch: Sendable {
    private let beats = Atomic<Int>(0)
    private let isOver = Atomic<Bool>(false)
    /// In microseconds.
    private static let interval: UInt32 = 200_000

    init(_ name: String, _ record: FuzzRecord, patience: Int, memoryLimit: Int) {
        Thread.detachNewThread { [self] in
            // Counted, not measured: a machine that stands still for a while is nobody's fault.
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

/// One line on a terminal that is written over each second; nothing without a terminal.
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
    /// What this process has in memory now (proc_pid_statm(5)).
    static var residentBytes: Int {
        let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
        return fields.dropFirst().first.flatMap { Int($0) }.map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) } ?? 0
    }

    /// How long this thread has computed.
    static var threadTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// The most that this process has had in memory (getrusage(2), which counts in KiB).
    static var peakMegabytes: Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss >> 10
    }
}
