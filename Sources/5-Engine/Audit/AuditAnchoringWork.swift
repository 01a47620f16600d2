import Access
import CLibrary
import Crypto
import FoundationEssentials
import PrivateFiles

/// Checks the records since the last anchor of both logs, and puts a new anchor at their ends. Holds the locks of both
/// heads until it ends.
///
/// A crash at any moment leaves the former anchor with its keys, or the new one with its own: a slot of each head is
/// written for the new anchor, then the anchor is replaced, and then the other slot. While the slots differ, the anchor
/// that is in its place decides.
struct AuditAnchoringWork {
    private let folder: PrivateFolder
    private let limits: AuditLimits
    private let anchorSeal: any AuditSeal
    private let time: Date
    /// In the order of ``AuditPart``, in which both heads are locked.
    private var writers: [AuditWriter] = []

    init(
        _ folder: PrivateFolder, limits: AuditLimits, under seal: any AuditSeal, anchorSeal: any AuditSeal,
        at time: Date
    ) throws(FileError) {
        self.folder = folder
        self.limits = limits
        self.anchorSeal = anchorSeal
        self.time = time
        for part in AuditPart.allCases {
            let files = AuditFiles(folder: folder, part: part, kept: limits.kept)
            writers.append(try AuditWriter(files, patience: limits.patience, under: seal))
        }
    }

    /// - Parameter isExpected: Whether the vault knows that its log has an anchor.
    mutating func perform(isExpected: Bool) throws(FileError) -> AuditAnchoring {
        let former = try formerAnchor(isExpected: isExpected)
        var isSound = true
        for index in writers.indices {
            let fault = try fault(of: writers[index], since: former)
            if fault != nil { isSound = false }
            try bringUpToDate(index, fault)
        }
        try replaceAnchor()
        return isSound ? .done : .doneAfterChange
    }

    /// What the records are compared with.
    private enum Former {
        /// The logs were not anchored before.
        case none
        case anchor(AuditAnchor)
        /// There was an anchor, and it is gone or was changed.
        case lost
    }

    private func formerAnchor(isExpected: Bool) throws(FileError) -> Former {
        switch try AuditAnchor.find(in: folder) {
        case .stored(let stored):
            if let anchor = AuditAnchor(stored, under: anchorSeal) { return .anchor(anchor) }
            // What an erase that was killed left belongs to another keybag.
            return stored.keybag == anchorSeal.identifier || isExpected ? .lost : .none
        case .invalid: return .lost
        case .nothing: return isExpected ? .lost : .none
        }
    }

    /// Returns the word for what is wrong with a log since its former anchor; nil if nothing is.
    private func fault(of writer: AuditWriter, since former: Former) throws(FileError) -> String? {
        switch former {
        case .none: return nil
        case .lost: return AuditRecord.anchorLost
        case .anchor(let anchor):
            let isWhole = try AuditSegment.isWhole(writer, since: anchor, limits: limits)
            return isWhole ? nil : AuditRecord.changedSinceAnchor
        }
    }

    private mutating func bringUpToDate(_ index: Int, _ fault: String?) throws(FileError) {
        let isNew = writers[index].end.sequence == 0 && writers[index].end.repair == nil
        guard fault != nil || !isNew && !writers[index].isUpToDate else { return }
        let time = time
        let left = try writers[index].append(fileLimit: limits.file, at: time) { page in
            guard let fault else { return }
            var record = AuditRecord(sequence: 0, time: 0, event: AuditRecord.repaired)
            record.failure = fault
            page.add(about: record, at: time)
        }
        guard left != nil else { throw writers[index].headError }
    }

    private mutating func replaceAnchor() throws(FileError) {
        let identifier = AuditAnchor.Identifier.random()
        var ends: [AuditPart: AuditAnchor.End] = [:]
        var heads: [AuditHead] = []
        for index in writers.indices {
            let end = writers[index].end
            let anchored = AuditAnchor.End(sequence: end.sequence, link: end.link, key: .init(size: .bits256))
            ends[writers[index].files.part] = anchored
            heads.append(try writers[index].head(tagging: .chain(anchored.chain(identifier))))
            // The other slot has to tell the present end until the anchor is in its place.
            let present = try writers[index].head
            try writers[index].write(present, in: 0)
            try writers[index].write(heads[index], in: 1)
            try writers[index].headFile.synchronize()
        }
        let anchor = AuditAnchor(keybag: anchorSeal.identifier, identifier: identifier, ends: ends)
        guard let encoded = anchor.encoded(under: anchorSeal) else { throw writers[0].headError }
        // Only who holds both heads replaces the anchor.
        try folder.removeRemains { $0 == AuditAnchor.fileName }
        try folder.replace(AuditAnchor.fileName, with: encoded)
        for index in writers.indices {
            // The anchor counts from here on. A slot that could not be written is written by the next append.
            try? writers[index].write(heads[index], in: 0)
            try? writers[index].headFile.synchronize()
        }
    }
}

extension AuditWriter {
    /// The head could not be written, for a reason that is not known any more.
    fileprivate var headError: FileError { .system(operation: "write", path: headFile.path, errno: EIO) }
}
