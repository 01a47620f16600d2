import SQLCipherService

/// Shows the progress of a transfer between the two engines.
final class TransferMeter {
    private var meter: FileProgress?
    private(set) var done = 0

    func show(_ progress: TransferProgress) {
        let shown = meter ?? FileProgress(UInt64(clamping: progress.totalBytes))
        meter = shown
        if progress.bytes > done { shown.add(UInt64(progress.bytes - done)) }
        done = max(done, progress.bytes)
    }

    func end() { meter?.end() }
}
