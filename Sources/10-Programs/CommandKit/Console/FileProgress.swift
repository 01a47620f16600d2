import Bytes
import CLibrary
import FoundationEssentials
import Synchronization

/// Shows the progress of work on files, in one line of the terminal that is overwritten again and again.
package final class FileProgress: Sendable {
    private struct State {
        var done: UInt64 = 0
        /// When the first bytes were done, after the time for trying a password.
        var began: ContinuousClock.Instant?
        var shown: ContinuousClock.Instant?
    }

    private let state = Mutex(State())
    private let total: UInt64?
    private let countsFiles: Bool
    private let isShown: Bool

    /// - Parameters:
    ///   - total: The size of the work, in bytes; nil if it is not known.
    ///   - isAmongData: Whether the data go to the terminal. Then the line is not shown, as it would overwrite them.
    package init(_ total: UInt64?, amongData isAmongData: Bool = false) {
        self.total = total
        countsFiles = false
        isShown = isatty(2) == 1 && !isAmongData
    }

    /// - Parameter count: The size of the work, in files.
    package init(files count: Int) {
        total = UInt64(clamping: count)
        countsFiles = true
        isShown = isatty(2) == 1
    }

    /// - Parameter amount: Bytes, or files, that are done.
    package func add(_ amount: UInt64) {
        state.withLock { state in
            state.done += amount
            guard isShown else { return }
            let now = ContinuousClock.now
            let began = state.began ?? now
            state.began = began
            if let shown = state.shown, now - shown < .milliseconds(100) { return }
            // Short work needs no line.
            guard now - began > .milliseconds(300) else { return }
            state.shown = now
            show(state.done, now - began)
        }
    }

    /// Removes the line.
    package func end() {
        state.withLock { state in
            if state.shown != nil { put("\r\u{1B}[K") }
            state.shown = nil
        }
    }

    private func show(_ done: UInt64, _ duration: Duration) {
        if countsFiles { return put("\r\u{1B}[K\(done) of \(total ?? done) files") }
        let rate = Double(done) / max(0.001, duration / .seconds(1))
        var text = Self.amount(Double(done))
        if let total {
            text = "\(total == 0 ? 100 : min(100, done * 100 / total)) % of \(Self.amount(Double(total)))"
        }
        put("\r\u{1B}[K\(text), \(Self.amount(rate))/s")
    }

    /// Returns a number of bytes as a person reads it, in powers of 1,000.
    package static func amount(_ bytes: Double) -> String {
        var (value, unit) = (bytes, "B")
        for next in ["kB", "MB", "GB", "TB"] where value >= 1000 { (value, unit) = (value / 1000, next) }
        guard unit != "B" else { return "\(Int(clamping: value)) B" }
        guard value < 10 else { return "\(Int(clamping: value.rounded(.toNearestOrEven))) \(unit)" }
        let tenths = Int(clamping: (value * 10).rounded(.toNearestOrEven))
        return "\(tenths / 10).\(tenths % 10) \(unit)"
    }

    private func put(_ text: String) {
        // A line that cannot be shown is no reason to fail.
        try? FileOutput.write(Data(text.utf8), to: 2)
    }
}
