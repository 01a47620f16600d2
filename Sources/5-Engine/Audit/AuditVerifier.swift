import Access
import Bytes
import FoundationEssentials
import PrivateFiles
import VaultInterface

/// Verifies that a log is unchanged: every record, their order, and the end that the head records.
package struct AuditVerifier {
    private let seal: any AuditSeal
    private var report = AuditReport()
    private var link: AuditLink?
    private var sequence: UInt64?
    private var key: String?
    /// The present line, for messages.
    private var place = ""

    /// - Returns: Nil if there is no log.
    package static func verify(
        folder: String, under seal: any AuditSeal, limits: AuditLimits = AuditLimits()
    ) throws(FileError) -> AuditReport? {
        guard let snapshot = try AuditSnapshot(of: folder, limits: limits) else { return nil }
        var verifier = AuditVerifier(seal: seal)
        for file in snapshot.files { try verifier.walk(file, mayBeContinuation: snapshot.isFull) }
        verifier.compare(with: snapshot.head)
        return verifier.report
    }

    private init(seal: any AuditSeal) {
        self.seal = seal
    }

    private mutating func walk(_ file: AuditSnapshot.File, mayBeContinuation: Bool) throws(FileError) {
        let (whole, torn) = try AuditSnapshot.lines(of: file)
        for (number, line) in whole.enumerated() {
            place = "\(file.name) line \(number + 1)"
            guard let line = AuditLine(line), let record = line.contents else {
                problem("is not a record")
                link = nil
                continue
            }
            if sequence == nil, record.sequence != 1, !mayBeContinuation {
                report.problems.append("the log begins with record \(record.sequence): older ones are missing")
            }
            check(line, record)
            if number == 0, record.event != AuditRecord.began { problem("is not the beginning of a file") }
        }
        if torn > 0 {
            place = file.name
            problem("ends with \(torn) bytes of an unfinished record; a crash leaves such an end, too")
        }
    }

    private mutating func check(_ line: AuditLine, _ record: AuditRecord) {
        report.records += 1
        if let sequence, record.sequence != sequence + 1 {
            problem("has record \(record.sequence) after record \(sequence)")
        }
        sequence = record.sequence
        if record.event == AuditRecord.began {
            let bytes = record.previous.flatMap { [UInt8](lowercaseHexadecimal: $0.utf8) }
            let previous = bytes.map { AuditLink(bytes: Data($0)) }
            if previous == nil || link.map({ $0 != previous }) == true {
                problem("does not continue what is before it")
            }
            link = previous
            key = record.key
        }
        if let link, link.next(line.record) != line.link { problem("was changed, or a record before it is gone") }
        link = line.link
        if key == nil || key == seal.identifier.uuidString {
            if line.tag != line.link.tag(under: seal) { problem("was not written by this vault") }
        } else {
            report.recordsOfEarlierKeys += 1
        }
        report.missedEvents += record.missed ?? 0
        if record.event == AuditRecord.repaired { checkRepair(record) }
    }

    /// A crash can tear a record. All other faults come from changes to the files.
    private mutating func checkRepair(_ record: AuditRecord) {
        switch record.failure {
        case nil: break
        case "cut": problem("tells that \(record.lost.map { "\($0)" } ?? "some") records before it were taken away")
        case "head": problem("tells that audit.head was missing or damaged")
        default: problem("tells that something else had been written before it")
        }
    }

    private mutating func compare(with head: Data?) {
        place = AuditFiles.headName
        guard let head else { return problem("is missing") }
        let slots = AuditHeadSlots(head, under: seal)
        if !slots.areAll(under: seal) { problem("was not written by this vault, or is damaged") }
        guard let latest = slots.latest(under: seal) else { return }
        let last = sequence ?? 0
        if latest.sequence > last {
            problem("tells of \(latest.sequence - last) more records than there are")
        } else if latest.sequence == last, let link, latest.link != link {
            problem("tells of another last record")
        }
        if let key, key != seal.identifier.uuidString {
            problem("and log are under a key that this vault does not have")
        }
    }

    private mutating func problem(_ what: String) {
        report.problems.append("\(place) \(what)")
    }
}
