import Access
import FoundationEssentials
import PrivateFiles
import Synchronization

/// The audit log in a vault's folder. Every event is in its file when `record` returns.
///
/// Any number of threads and processes may append. An event that cannot be written does not stop the operation that it
/// reports. It is counted, and the next written record contains the count.
package final class AuditLog: AuditSink {
    package struct Moment: Sendable {
        package var event: AuditEvent
        package var time: Date
        /// How many events this one stands for, and when the last of them was; nil for one event.
        package var repeats: (count: Int, last: Date)?

        package init(_ event: AuditEvent, at time: Date) {
            self.event = event
            self.time = time
        }
    }

    private struct State {
        var place: AuditPlace?
        var chains: [AuditPart: Chain] = [:]
    }

    /// What this process knows of one of the two logs.
    private struct Chain {
        var missed = 0
        /// What this process left in the head.
        var left: AuditWriter.Left?
    }

    private let limits: AuditLimits
    private let state = Mutex(State())

    package init(limits: AuditLimits = AuditLimits()) { self.limits = limits }

    package func begin(in place: AuditPlace) {
        state.withLock { $0.place = place }
    }

    package func record(_ event: AuditEvent) {
        append { place in [Moment(event, at: place.now())] }
    }

    /// Appends the events that `take` returns. Calls `take` when it is this caller's turn.
    package func append(_ take: (AuditPlace) -> [Moment]) {
        state.withLock { state in
            guard let place = state.place else { return }
            var moments = take(place)[...]
            while let first = moments.first {
                let part = AuditPart(of: first.event)
                // One run after the other, because records tell how far the other log is.
                let run = moments.prefix { AuditPart(of: $0.event) == part }
                moments = moments.dropFirst(run.count)
                append(Array(run), to: part, place, &state)
            }
        }
    }

    /// Begins the use of the present key in a log that has another one, and repairs its end, so that nobody has to wait
    /// for the next event to verify it.
    package func flush() {
        state.withLock { state in
            guard let place = state.place, let folder = try? PrivateFolder(existing: place.folder) else { return }
            for part in AuditPart.allCases where AuditFiles(folder: folder, part: part, kept: limits.kept).exist {
                append([], to: part, place, &state)
            }
        }
    }

    /// The number of events since the last written one that could not be written.
    package var missedEvents: Int { state.withLock { $0.chains.values.reduce(0) { $0 + $1.missed } } }

    /// Waits until the appended records are on the disk. Ignores errors.
    package func synchronize() {
        guard let path = state.withLock({ $0.place })?.folder, let folder = try? PrivateFolder(existing: path)
        else { return }
        for name in AuditPart.allCases.flatMap({ [$0.logName, $0.headName] }) {
            try? PrivateFile(name, in: folder, creating: false).synchronize()
        }
    }

    private func append(_ moments: [Moment], to part: AuditPart, _ place: AuditPlace, _ state: inout State) {
        var chain = state.chains[part] ?? Chain()
        do throws(FileError) {
            guard let seal = place.seal() else { throw .notFound(path: place.folder) }
            let files = AuditFiles(folder: try PrivateFolder(existing: place.folder), part: part, kept: limits.kept)
            try append(moments, to: files, place, seal, &chain)
        } catch {
            chain.missed += moments.count
            chain.left = nil
        }
        state.chains[part] = chain
    }

    private func append(
        _ moments: [Moment], to files: AuditFiles, _ place: AuditPlace, _ seal: any AuditSeal, _ chain: inout Chain
    ) throws(FileError) {
        var writer = try AuditWriter(files, patience: limits.patience, under: seal, left: chain.left)
        if moments.isEmpty, writer.isUpToDate { return }
        let missed = chain.missed
        let time = moments.first?.time ?? place.now()
        chain.left = try writer.append(fileLimit: limits.file, at: time) { page in
            for (number, moment) in moments.enumerated() {
                var moment = moment
                moment.event.process = moment.event.process ?? place.process
                page.add(moment, missed: number == 0 ? missed : 0)
            }
        }
        if !moments.isEmpty { chain.missed = 0 }
    }

    // MARK: Anchoring

    package func anchor(isExpected: Bool) -> AuditAnchoring {
        state.withLock { state in
            guard let place = state.place, let seal = place.seal(), let anchorSeal = place.anchorSeal(),
                let folder = try? PrivateFolder(existing: place.folder)
            else { return .impossible }
            for part in AuditPart.allCases { state.chains[part, default: Chain()].left = nil }
            do throws(FileError) {
                var anchoring = try AuditAnchoringWork(
                    folder, limits: limits, under: seal, anchorSeal: anchorSeal, at: place.now())
                return try anchoring.perform(isExpected: isExpected)
            } catch {
                return .impossible
            }
        }
    }
}
