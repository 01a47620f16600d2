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
        /// The head that this process wrote last. It is still valid unless another process has appended.
        var left: (file: Data, slots: AuditHeadSlots)?
    }

    private let limits: AuditLimits
    private let state = Mutex(State())

    package init(limits: AuditLimits = AuditLimits()) {
        self.limits = limits
    }

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
        let headFile = try PrivateFile(files.part.headName, in: files.folder, creating: true)
        try headFile.lock(deadline: limits.patience)
        let stored = try headFile.read(AuditHead.fileSize + 1, at: 0)
        let slots: AuditHeadSlots
        if let left = chain.left, left.file == stored {
            slots = left.slots
        } else {
            slots = AuditHeadSlots(stored, under: seal)
        }
        var log = try files.openLog()
        var end = try AuditEnd(log, files, heads: slots, under: seal)
        if moments.isEmpty, !end.needsBeginning, end.repair == nil { return }
        if end.size >= limits.file {
            try files.rotate()
            log = try files.openLog()
            end.moveToNewFile()
        }

        let other = Self.lastNumber(of: files.part.other, in: files.folder, under: seal)
        var page = AuditPage(end, under: seal, other: other, time: moments.first?.time ?? place.now())
        for (number, moment) in moments.enumerated() {
            var moment = moment
            moment.event.process = moment.event.process ?? place.process
            page.add(moment, missed: number == 0 ? chain.missed : 0)
        }
        do {
            try log.write(page.bytes, at: end.size)
        } catch {
            // Otherwise a part of a record would look like the trace of a crash.
            try? log.truncate(to: end.size)
            throw error
        }
        if !moments.isEmpty { chain.missed = 0 }
        // Without the head, the records are still there, and the next append continues after them.
        chain.left = try? page.writeHead(headFile, slots, stored)
    }

    /// Returns the number of the last record of a log; nil if its head does not tell. Needs no lock: a head is written
    /// after its records, and a half-written one is not valid.
    private static func lastNumber(
        of part: AuditPart, in folder: PrivateFolder, under seal: any AuditSeal
    ) -> UInt64? {
        guard folder.contains(part.headName),
            let head = try? PrivateFile(part.headName, in: folder, creating: false).read(AuditHead.fileSize, at: 0),
            let latest = AuditHeadSlots(head, under: seal).latest(under: seal),
            latest.key == seal.identifier, latest.sequence > 0
        else { return nil }
        return latest.sequence
    }
}
