import Foundation
import Glibc

/// A broken promise, found with an input.
package struct FuzzFinding: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Tries inputs that are almost what a parser expects, a number of them or for a time.
///
/// A plain run tries a fixed number. `make fuzz` sets `KEYCHAIN_FUZZ_SECONDS`: each input is then written to a file
/// before it is tried, so that it remains if the process ends. `KEYCHAIN_FUZZ_REPLAY` names such a file; then only that
/// input is tried.
package struct FuzzRun {
    package struct Report {
        package var tried = 0
        package var accepted = 0
        /// The largest processor time of one input.
        package var slowest = Duration.zero
        package var elapsed = Duration.zero
    }

    private static let environment = ProcessInfo.processInfo.environment
    /// In seconds. An input that takes longer hangs.
    private static let patience = 30
    /// In bytes. An input that takes more memory grew too much.
    private static let memoryLimit = 2 << 30

    private let name: String
    private let count: Int
    private var corpus: FuzzCorpus
    private var random = SeededGenerator()

    package init(_ name: String, samples: [Data], plain: Int, soak: Int) {
        self.name = name
        count = TestScale.count(plain, soak: soak)
        corpus = FuzzCorpus(samples)
    }

    /// Tries inputs. `body` returns whether it accepted an input, and throws if the input broke a promise.
    @discardableResult
    package mutating func run(_ body: (Data) throws -> Bool) throws -> Report {
        if let path = Self.environment["KEYCHAIN_FUZZ_REPLAY"] {
            let input = try Data(contentsOf: URL(filePath: path))
            let isAccepted = try body(input)
            print("fuzz \(name): \(input.count) bytes of \(path) were \(isAccepted ? "accepted" : "refused")")
            // No samples were tried, so callers that count accepted samples get an empty report.
            return Report()
        }
        var report = Report()
        // Unchanged samples must be accepted.
        for sample in corpus.samples where try body(sample) { report.accepted += 1 }
        report.tried = corpus.samples.count
        guard let seconds = Self.environment["KEYCHAIN_FUZZ_SECONDS"].flatMap(Int.init) else {
            for _ in 0..<count { try step(&report, record: nil, body) }
            return report
        }
        let record = try FuzzRecord(name)
        let watch = FuzzWatch(name, record, patience: Self.patience, memoryLimit: Self.memoryLimit)
        defer { watch.stop() }
        let clock = ContinuousClock()
        let begin = clock.now
        let progress = FuzzProgress(Self.environment["KEYCHAIN_FUZZ_TERMINAL"])
        while clock.now - begin < .seconds(seconds) {
            watch.beat()
            try step(&report, record: record, body)
            report.elapsed = clock.now - begin
            progress.show(line(report))
        }
        progress.clear()
        record.remove()
        print("\(line(report)), 0 crashes, seed \(random.seed)")
        return report
    }

    private mutating func step(_ report: inout Report, record: FuzzRecord?, _ body: (Data) throws -> Bool) throws {
        let input = corpus.next(&random)
        try record?.write(input)
        let begin = ProcessMemory.threadTime
        do {
            let isAccepted = try body(input)
            report.accepted += isAccepted ? 1 : 0
            if isAccepted { corpus.keep(input, &random) }
        } catch {
            let again = record.map { "replay with KEYCHAIN_FUZZ_REPLAY=\($0.path)" }
            let what = again ?? "input \(input.base64EncodedString())"
            throw FuzzFinding("\(error); \(what), seed \(random.seed), input \(report.tried)")
        }
        report.slowest = max(report.slowest, ProcessMemory.threadTime - begin)
        report.tried += 1
    }

    private func line(_ report: Report) -> String {
        let milliseconds = report.slowest / .milliseconds(1)
        return "fuzz \(name): \(report.elapsed.components.seconds) s, \(report.tried) inputs, "
            + "\(report.accepted) accepted, \(report.tried - report.accepted) refused, "
            + "slowest \(Int(milliseconds.rounded(.up))) ms, peak \(ProcessMemory.peakMegabytes) MB"
    }
}
