import Foundation
import Glibc

/// A promise that an input broke.
package struct FuzzFinding: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Inputs that are almost what a parser expects, by count or by the clock.
///
/// A plain run tries as many as it is told. `make fuzz` sets `KEYCHAIN_FUZZ_SECONDS`: each input is then in a file before
/// it is tried, so that whatever ends the process leaves it there. `KEYCHAIN_FUZZ_REPLAY` names such a file, and nothing
/// else is tried then.
package struct FuzzRun {
    package struct Report {
        package var tried = 0
        package var accepted = 0
        /// The most that one input took of the processor.
        package var slowest = Duration.zero
        package var elapsed = Duration.zero
    }

    private static let environment = ProcessInfo.processInfo.environment
    /// An input that takes longer than this hangs.
    private static let patience = 30
    /// More memory than this is an input that grew too much.
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

    /// Tries inputs, of which `body` says whether they were accepted; it throws for what must never be.
    @discardableResult
    package mutating func run(_ body: (Data) throws -> Bool) throws -> Report {
        if let path = Self.environment["KEYCHAIN_FUZZ_REPLAY"] {
            let input = try Data(contentsOf: URL(filePath: path))
            let isAccepted = try body(input)
            print("fuzz \(name): \(input.count) bytes of \(path) were \(isAccepted ? "accepted" : "refused")")
            // No samples were tried, of which so many have to be accepted.
            return Report()
        }
        var report = Report()
        // What is not changed is what must be understood.
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
