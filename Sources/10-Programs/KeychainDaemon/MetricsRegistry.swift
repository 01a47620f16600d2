import CLibrary
import Metrics

/// Keeps the recorded metrics. ``text`` returns them in the format of Prometheus (text format 0.0.4).
final class MetricsRegistry: MetricsFactory {
    private enum Kind: String {
        case counter, gauge
        /// Of durations: how many there were, and their sum in seconds.
        case summary
    }

    private struct Name: Hashable {
        let label: String
        /// As Prometheus writes it, with braces; empty for none.
        let dimensions: String

        init(_ label: String, _ dimensions: [(String, String)]) {
            self.label = label
            let pairs = dimensions.map { name, value in
                let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
                return "\(name)=\"\(escaped.replacing("\n", with: "\\n"))\""
            }
            self.dimensions = pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}"
        }
    }

    private final class Series: CounterHandler, RecorderHandler, TimerHandler {
        let kind: Kind
        private let state = UnfairMutex((value: 0.0, count: 0))

        init(_ kind: Kind) { self.kind = kind }

        var recorded: (value: Double, count: Int) { state.withLock { $0 } }

        func increment(by amount: Int64) { state.withLock { $0.value += Double(amount) } }
        func reset() { state.withLock { $0 = (0, 0) } }
        func record(_ value: Int64) { record(Double(value)) }
        func record(_ value: Double) { state.withLock { $0.value = value } }
        func recordNanoseconds(_ duration: Int64) {
            state.withLock { $0 = ($0.value + Double(duration) / 1e9, $0.count + 1) }
        }
    }

    private let series = UnfairMutex<[Name: Series]>([:])
    private let help: [String: String]

    /// - Parameter help: What each metric means, by its label.
    init(help: [String: String] = [:]) { self.help = help }

    private func series(_ label: String, _ dimensions: [(String, String)], _ kind: Kind) -> Series {
        let name = Name(label, dimensions)
        return series.withLock { series in
            if let known = series[name] { return known }
            let new = Series(kind)
            series[name] = new
            return new
        }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, dimensions, .counter)
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        series(label, dimensions, .gauge)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label + "_seconds", dimensions, .summary)
    }

    // A count stays when its counter is gone.
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}

    var text: String {
        let sorted = series.withLock { Array($0) }.sorted {
            ($0.key.label, $0.key.dimensions) < ($1.key.label, $1.key.dimensions)
        }
        var lines: [String] = []
        var last = ""
        for (name, series) in sorted {
            if name.label != last {
                if let help = help[name.label] { lines.append("# HELP \(name.label) \(help)") }
                lines.append("# TYPE \(name.label) \(series.kind.rawValue)")
            }
            last = name.label
            let recorded = series.recorded
            if series.kind == .summary {
                lines.append("\(name.label)_sum\(name.dimensions) \(recorded.value)")
                lines.append("\(name.label)_count\(name.dimensions) \(recorded.count)")
            } else {
                lines.append("\(name.label)\(name.dimensions) \(recorded.value)")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
