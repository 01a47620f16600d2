import Benchmark
import Foundation
import Glibc
import KeychainServices

/// Apple's functions on a vault of a thousand items on disk, for thresholds that catch a change for the
/// worse. How they compare with others is measured by `run.sh`.
let benchmarks: @Sendable () -> Void = {
    // Other machines are slower or faster; what is to be caught is a multiple.
    let tolerance = BenchmarkThresholds(relative: [.p50: 200.0])
    Benchmark.defaultConfiguration = .init(
        metrics: [.cpuTotal, .wallClock, .peakMemoryResident], warmupIterations: 1, scalingFactor: .one,
        maxDuration: .seconds(3), maxIterations: 200,
        thresholds: [
            .cpuTotal: tolerance, .wallClock: tolerance,
            .peakMemoryResident: BenchmarkThresholds(relative: [.p50: 50.0]),
        ],
        setup: { SampleVault.shared.fill(1_000) })

    Benchmark("Look up 100 of 1,000 values") { _ in
        for number in 0..<100 { blackHole(SampleVault.shared.find(number * 7)) }
    }
    Benchmark("Look up 100 that are not there") { _ in
        for number in 0..<100 { blackHole(SampleVault.shared.find(1_000_000 + number)) }
    }
    Benchmark("List the attributes of 1,000") { _ in blackHole(SampleVault.shared.list()) }
    Benchmark("Add and delete 10") { _ in
        for number in 2_000..<2_010 { SampleVault.shared.add(number) }
        for number in 2_000..<2_010 { SampleVault.shared.delete(number) }
    }
    Benchmark("Change 10 values") { _ in
        for number in 0..<10 { SampleVault.shared.change(number) }
    }
}
