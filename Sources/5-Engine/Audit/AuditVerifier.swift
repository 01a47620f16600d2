import Access
import Bytes
import FoundationEssentials
import PrivateFiles
import VaultInterface

/// Verifies that the logs are unchanged: every record, their order, the end that each head records, and what the
/// records of each log tell of the other.
package struct AuditVerifier {
    private let seal: any AuditSeal
    private let part: AuditPart
    private var report = AuditReport()
    /// The numbers of records that tell how far the other log was, and those numbers.
    private var crossings: [(sequence: UInt64, other: UInt64)] = []
    private var link: AuditLink?
    private var sequence: UInt64?
    private var key: String?
    /// The present line, for messages.
    private var place = ""

    /// - Returns: Nil if there is no log.
    package static func verify(
        folder: String, under seal: any AuditSeal, limits: AuditLimits = AuditLimits()
    ) throws(FileError) -> AuditReport? {
        guard let snapshots = try AuditSnapshot.both(of: folder, limits: limits) else { return nil }
        var report = AuditReport()
        var verifiers: [AuditVerifier] = []
        for snapshot in snapshots {
            var verifier = AuditVerifier(seal: seal, part: snapshot.part)
            for file in snapshot.files { try verifier.walk(file, mayBeContinuation: snapshot.isFull) }
            if !snapshot.files.isEmpty || snapshot.head != nil { verifier.compare(with: snapshot.head) }
            report.add(verifier.report)
            verifiers.append(verifier)
        }
        report.problems += contradictions(verifiers[0], verifiers[1]) + contradictions(verifiers[1], verifiers[0])
        return report
    }

    private init(seal: any AuditSeal, part: AuditPart) {
        self.seal = seal
        self.part = part
    }

    /// Returns what the records of `teller` tell of the log `told` that cannot be.
    private static func contradictions(_ teller: AuditVerifier, _ told: AuditVerifier) -> [String] {
        var problems: [String] = []
        let last = told.sequence ?? 0
        if let crossing = teller.crossings.last(where: { $0.other > last }) {
            problems.append(
                "\(told.part.logName) ends with record \(last), and \(teller.part.logName) tells of record "
                    + "\(crossing.other)")
        }
        // A record of `teller` that came after a record of `told` is not one that this record already knew.
        var (known, next) = (UInt64(0), told.crossings.startIndex)
        for crossing in teller.crossings {
            while next < told.crossings.endIndex, told.crossings[next].sequence <= crossing.other {
                known = max(known, told.crossings[next].other)
                next += 1
            }
            if crossing.sequence <= known {
                problems.append("\(teller.part.logName) was begun again, or lacks records before \(crossing.sequence)")
                break
            }
        }
        return problems
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
                report.problems.append("\(part.logName) begins with record \(record.sequence): older ones are missing")
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
        if let other = record.other { crossings.append((record.sequence, other)) }
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
        case "head": problem("tells that \(part.headName) was missing, damaged or replaced")
        default: problem("tells that something else had been written before it")
        }
    }

    private mutating func compare(with head: Data?) {
        place = part.headName
        guard let head else { return problem("is missing") }
        let slots = AuditHeadSlots(head, under: seal)
        if slots.slots.contains(where: { $0?.key != seal.identifier }) {
            problem("was not written by this vault, or is damaged")
        } else if !slots.areSound {
            problem("has two equal slots: the last records may have been taken away")
        }
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

extension AuditReport {
    fileprivate mutating func add(_ other: AuditReport) {
        records += other.records
        recordsOfEarlierKeys += other.recordsOfEarlierKeys
        missedEvents += other.missedEvents
        problems += other.problems
    }
}
