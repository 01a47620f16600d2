import Benchmark
import Foundation
import KeychainServices

/// Apple's functions on a vault of a thousand items on disk, for thresholds that catch a change for the
/// worse. How they compare with others is measured by `run.sh`.
///
/// Reading counts processor time, which other processes hardly disturb; the system counts it in steps of
/// 10 ms, so an iteration repeats itself often enough to take several. Names have no blanks, because the
/// tool looks for a threshold's file by the name as it is.
let benchmarks: @Sendable () -> Void = {
    let vault = SampleVault.shared
    let reading = Benchmark.Configuration(
        metrics: [.cpuTotal, .peakMemoryResident], warmupIterations: 1, maxDuration: .seconds(10),
        maxIterations: 15,
        // Other machines are slower or faster; what is to be caught is a multiple.
        thresholds: [
            .cpuTotal: BenchmarkThresholds(relative: [.p90: 150.0]),
            .peakMemoryResident: BenchmarkThresholds(relative: [.p90: 50.0]),
        ],
        setup: { vault.fill(1_000) })
    Benchmark("find-5000-of-1000", configuration: reading) { _ in
        for number in 0..<5_000 { blackHole(vault.find(number * 7 % 1_000)) }
    }
    Benchmark("find-5000-absent", configuration: reading) { _ in
        for number in 0..<5_000 { blackHole(vault.find(1_000_000 + number)) }
    }
    Benchmark("list-1000-attributes-10-times", configuration: reading) { _ in
        for _ in 0..<10 { blackHole(vault.list()) }
    }

    // Changes wait for the disk.
    var writing = reading
    writing.metrics = [.wallClock]
    writing.thresholds = [.wallClock: BenchmarkThresholds(relative: [.p90: 400.0])]
    Benchmark("add-and-delete-100", configuration: writing) { _ in
        for number in 2_000..<2_100 { vault.add(number) }
        for number in 2_000..<2_100 { vault.delete(number) }
    }
    Benchmark("change-100-values", configuration: writing) { _ in
        for number in 0..<100 { vault.change(number) }
    }
}
