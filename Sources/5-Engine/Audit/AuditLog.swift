import Access
import FoundationEssentials
import PrivateFiles
import Synchronization

/// The audit log in a vault's folder. Every event is in the file when `record` returns.
///
/// Any number of threads and processes may append. An event that cannot be written does not stop the operation that it
/// reports. It is counted, and the next written record contains the count.
package final class AuditLog: AuditSink {
    package struct Moment: Sendable {
        package var event: AuditEvent
        package var time: Date

        package init(_ event: AuditEvent, at time: Date) {
            self.event = event
            self.time = time
        }
    }

    private struct State {
        var place: AuditPlace?
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

    /// The time of the vault's clock; nil before ``begin(in:)``.
    package var now: Date? { state.withLock { $0.place }?.now() }

    /// Appends the events that `take` returns. Calls `take` when it is this caller's turn.
    package func append(_ take: (AuditPlace) -> [Moment]) {
        state.withLock { state in
            guard let place = state.place else { return }
            let moments = take(place)
            guard !moments.isEmpty else { return }
            do throws(FileError) {
                guard let seal = place.seal() else { throw .notFound(path: place.folder) }
                try append(moments, place, seal, &state)
                state.missed = 0
            } catch {
                state.missed += moments.count
                state.left = nil
            }
        }
    }

    /// The number of events since the last written one that could not be written.
    package var missedEvents: Int { state.withLock { $0.missed } }

    /// Waits until the appended records are on the disk. Ignores errors.
    package func synchronize() {
        guard let folder = state.withLock({ $0.place })?.folder,
            let files = try? AuditFiles(folder: PrivateFolder(existing: folder), kept: limits.kept)
        else { return }
        for name in [AuditFiles.logName, AuditFiles.headName] {
            try? PrivateFile(name, in: files.folder, creating: false).synchronize()
        }
    }

    private func append(
        _ moments: [Moment], _ place: AuditPlace, _ seal: any AuditSeal, _ state: inout State
    ) throws(FileError) {
        let files = AuditFiles(folder: try PrivateFolder(existing: place.folder), kept: limits.kept)
        let headFile = try PrivateFile(AuditFiles.headName, in: files.folder, creating: true)
        try headFile.lock(deadline: limits.patience)
        let stored = try headFile.read(AuditHead.fileSize + 1, at: 0)
        let slots: AuditHeadSlots
        if let left = state.left, left.file == stored {
            slots = left.slots
        } else {
            slots = AuditHeadSlots(stored, under: seal)
        }
        var log = try files.openLog()
        var end = try AuditEnd(log, files, head: slots.latest(under: seal), under: seal)
        if end.size >= limits.file {
            try files.rotate()
            log = try files.openLog()
            end.moveToNewFile()
        }

        var page = AuditPage(end, under: seal, time: moments[0].time)
        for (number, moment) in moments.enumerated() {
            page.add(moment, missed: number == 0 ? state.missed : 0)
        }
        do {
            try log.write(page.bytes, at: end.size)
        } catch {
            // Otherwise a part of a record would look like the trace of a crash.
            try? log.truncate(to: end.size)
            throw error
        }
        // Without the head, the records are still there, and the next append continues after them.
        state.left = try? page.writeHead(headFile, slots, stored)
    }
}
