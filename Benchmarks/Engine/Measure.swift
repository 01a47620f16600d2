import Glibc

/// What a measurement counts.
enum Clock {
    /// Time that passes, waiting for the disk included.
    case elapsed
    /// Time that this process has a processor for, in user and kernel mode, which other processes
    /// hardly disturb.
    case processor

    func seconds() -> Double {
        var time = timespec()
        switch self {
        case .elapsed: clock_gettime(CLOCK_MONOTONIC, &time)
        case .processor: clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// The times that one side of a comparison took, one for each round.
struct Samples {
    private let clock: Clock
    private var perOperation: [Double] = []

    init(_ clock: Clock) { self.clock = clock }

    /// Runs `body` once and records its time divided by `operations`.
    mutating func measure(operations: Int, _ body: () throws -> Void) rethrows {
        let start = clock.seconds()
        try body()
        perOperation.append((clock.seconds() - start) / Double(operations))
    }

    /// The middle round, in microseconds per operation. Rounds of both sides alternate, so a busy
    /// machine slows both.
    var median: Double {
        let sorted = perOperation.sorted()
        guard !sorted.isEmpty else { return .nan }
        return sorted[sorted.count / 2] * 1e6
    }

    /// The fastest round, in microseconds per operation.
    var best: Double { (perOperation.min() ?? .nan) * 1e6 }
}

/// A field of /proc/self/status in KiB.
func memory(_ field: String) -> Int {
    guard let file = fopen("/proc/self/status", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard text.hasPrefix(field + ":") else { continue }
        return text.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
    }
    return 0
}

/// SplitMix64: cheap enough to leave no trace in what is measured.
struct FastRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Prints one result for the table: a name, the median and the best, in microseconds.
func emit(_ name: String, _ samples: Samples) {
    print("\(name)\t\(samples.median)\t\(samples.best)")
}
