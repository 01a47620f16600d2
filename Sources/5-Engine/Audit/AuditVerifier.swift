import Access
import Bytes
import FoundationEssentials
import PrivateFiles
import VaultInterface

/// Verifies that the logs are unchanged: every record, their order, the end that each head records, and what the
/// records of each log tell of the other.
///
/// A log that was anchored is held by its anchor: the records up to it by the link in the anchor, and each one after it
/// by a key of its own, which the anchor's key leads to.
package struct AuditVerifier {
    private let seal: any AuditSeal
    private let part: AuditPart
    private let anchor: Anchor
    private var report = AuditReport()
    /// The numbers of records that tell how far the other log was, and those numbers.
    private var crossings: [(sequence: UInt64, other: UInt64)] = []
    private var link: AuditLink?
    private var sequence: UInt64?
    private var key: String?
    /// The key of the next record, in a log with an anchor.
    private var chain: AuditChain?
    /// The head, if it is valid.
    private let head: AuditHead?
    /// The key of the record after the one that the head tells of.
    private var keyAtHead: AuditChain?
    /// The present line, for messages.
    private var place = ""

    /// What holds the records.
    private enum Anchor {
        /// The audit key: no unlocking has anchored the log.
        case none
        /// An anchor that cannot be used: the vault is locked, or the anchor is lost.
        case closed
        case open(AuditAnchor.End, AuditAnchor.Identifier)
    }

    /// Verifies the logs in `folder`.
    ///
    /// - Parameters:
    ///   - anchorSeal: What opens the anchor; nil while the vault is locked. Then links and heads are checked, and the
    ///     records under keys of a chain count as ``AuditReport/recordsOfEarlierKeys``.
    ///   - isAnchorExpected: Whether the vault knows that its log has an anchor.
    /// - Returns: Nil if there is no log, and no sign that there was one.
    package static func verify(
        folder: String, under seal: any AuditSeal, anchorSeal: (any AuditSeal)? = nil, isAnchorExpected: Bool = false,
        limits: AuditLimits = AuditLimits()
    ) throws(FileError) -> AuditReport? {
        guard let both = try AuditSnapshot.both(of: folder, limits: limits) else {
            guard isAnchorExpected else { return nil }
            return AuditReport(problems: ["the audit log is gone: an unlocking anchored it, and no file of it is left"])
        }
        var report = AuditReport()
        let (anchor, problem) = open(both.anchor, under: seal, anchorSeal, isExpected: isAnchorExpected)
        if let problem { report.problems.append(problem) }
        var verifiers: [AuditVerifier] = []
        for snapshot in both.logs {
            var verifier = AuditVerifier(snapshot, seal: seal, anchor: anchor(snapshot.part), both.anchor)
            for file in snapshot.files { try verifier.walk(file, mayBeContinuation: snapshot.isFull) }
            verifier.finish(snapshot)
            report.add(verifier.report)
            verifiers.append(verifier)
        }
        report.problems += contradictions(verifiers[0], verifiers[1]) + contradictions(verifiers[1], verifiers[0])
        return report
    }

    private static func open(
        _ found: AuditAnchor.Found, under seal: any AuditSeal, _ anchorSeal: (any AuditSeal)?, isExpected: Bool
    ) -> (anchor: (AuditPart) -> Anchor, problem: String?) {
        let name = AuditAnchor.fileName
        switch found {
        case .nothing where isExpected: return ({ _ in .closed }, "\(name) is missing: somebody removed it")
        case .nothing: return ({ _ in .none }, nil)
        case .invalid: return ({ _ in .closed }, "\(name) was changed")
        case .stored(let stored):
            // An erase that was killed leaves the anchor of a keybag that is gone.
            guard stored.keybag == seal.identifier || isExpected else { return ({ _ in .none }, nil) }
            guard let anchorSeal else { return ({ _ in .closed }, nil) }
            guard let anchor = AuditAnchor(stored, under: anchorSeal) else {
                return ({ _ in .closed }, "\(name) was changed, or another vault made it")
            }
            return ({ part in anchor.ends[part].map { .open($0, anchor.identifier) } ?? .closed }, nil)
        }
    }

    private init(
        _ snapshot: AuditSnapshot, seal: any AuditSeal, anchor: Anchor, _ stored: AuditAnchor.Found
    ) {
        self.seal = seal
        part = snapshot.part
        self.anchor = anchor
        head = snapshot.head.flatMap { file in
            AuditHeadSlots(file, under: seal).latest(under: seal) {
                guard case .stored(let stored) = stored else { return nil }
                return stored.identifier
            }
        }
        if case .open(let end, let identifier) = anchor { chain = end.chain(identifier) }
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
        checkTag(line, record.sequence)
        report.missedEvents += record.missed ?? 0
        if record.event == AuditRecord.repaired { checkRepair(record) }
    }

    private mutating func checkTag(_ line: AuditLine, _ number: UInt64) {
        // Nobody but a vault with this keybag has anchored the log, so that no record after it is under another one.
        if case .open(let end, _) = anchor, number > end.sequence { return checkKey(line, number) }
        guard key == nil || key == seal.identifier.uuidString else {
            report.recordsOfEarlierKeys += 1
            return
        }
        switch anchor {
        case .open(let end, _):
            if number == end.sequence, line.link != end.link { problem("is not the record that an unlocking anchored") }
        case .closed, .none:
            guard line.tag != line.link.tag(under: seal) else { return }
            if case .none = anchor, head?.chain == nil {
                problem("was not written by this vault")
            } else {
                report.recordsOfEarlierKeys += 1
            }
        }
    }

    /// Checks that a record after the anchor was tagged with its own key.
    private mutating func checkKey(_ line: AuditLine, _ number: UInt64) {
        if let head, head.sequence < number { keepKeyAtHead(head.sequence + 1) }
        guard var chain, chain.advance(to: number) else { return problem("was not written by this vault") }
        if chain.tag(of: line.link) != line.tag { problem("was not written by this vault") }
        chain.advance()
        self.chain = chain
    }

    private mutating func keepKeyAtHead(_ number: UInt64) {
        guard keyAtHead == nil, var chain, chain.advance(to: number) else { return }
        keyAtHead = chain
    }

    private mutating func finish(_ snapshot: AuditSnapshot) {
        if case .open(let end, _) = anchor, sequence ?? 0 < end.sequence {
            report.problems.append(
                "\(part.logName) ends with record \(sequence ?? 0), and an unlocking anchored record \(end.sequence)")
        }
        let isAnchored =
            if case .open = anchor { true } else { false }
        if !snapshot.files.isEmpty || snapshot.head != nil || isAnchored { compare(with: snapshot.head) }
    }

    /// A crash can tear a record. All other faults come from changes to the files.
    private mutating func checkRepair(_ record: AuditRecord) {
        switch record.failure {
        case nil: break
        case "cut": problem("tells that \(record.lost.map { "\($0)" } ?? "some") records before it were taken away")
        case "head": problem("tells that \(part.headName) was missing, damaged or replaced")
        case AuditRecord.anchorLost:
            problem("tells that an unlocking found \(AuditAnchor.fileName) missing or changed")
        case AuditRecord.changedSinceAnchor:
            problem("tells that an unlocking found records before it changed, taken away or replaced")
        default: problem("tells that something else had been written before it")
        }
    }

    private mutating func compare(with file: Data?) {
        place = part.headName
        guard let file else { return problem("is missing") }
        let slots = AuditHeadSlots(file, under: seal)
        if slots.slots.contains(where: { $0?.key != seal.identifier }) {
            problem("was not written by this vault, or is damaged")
        } else if !slots.areSound {
            problem("has two equal slots: the last records may have been taken away")
        }
        guard let latest = head else { return }
        let last = sequence ?? 0
        if latest.sequence > last {
            problem("tells of \(latest.sequence - last) more records than there are")
        } else if latest.sequence == last, let link, latest.link != link {
            problem("tells of another last record")
        }
        if let key, key != seal.identifier.uuidString {
            problem("and log are under a key that this vault does not have")
        }
        guard case .open(_, let identifier) = anchor else { return }
        keepKeyAtHead(latest.sequence + 1)
        guard latest.chain?.anchor == identifier else { return problem("does not belong to \(AuditAnchor.fileName)") }
        let key = latest.chain.flatMap { AuditChain($0, number: latest.sequence + 1, under: seal)?.key }
        if key == nil || key != keyAtHead?.key { problem("has another key than the one that follows from the records") }
    }

    private mutating func problem(_ what: String) { report.problems.append("\(place) \(what)") }
}

extension AuditReport {
    fileprivate mutating func add(_ other: AuditReport) {
        records += other.records
        recordsOfEarlierKeys += other.recordsOfEarlierKeys
        missedEvents += other.missedEvents
        problems += other.problems
    }
}
