import Access
import Bytes
import Circle
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import Sealing
import VaultInterface

/// The changes of items that wait for the store's decision, in a transaction.
///
/// Each is a parcel among what is to be handed on, whose key says all that has to be looked for.
struct CircleProposals {
    let making: CircleMaking

    private var session: CircleSession { making.session }
    private var tables: CircleWriter { making.tables }

    init(_ making: CircleMaking) { self.making = making }

    static let kind = CircleObject.Kind.proposal.rawValue
    /// The most that wait for one program, in one view, so that programs of others keep room, and in all. Each may have
    /// 512 KiB.
    private static let mostOfProgram = 16
    private static let mostOfView = 64
    private static let most = 256
    /// How many former names of an item the store compares.
    private static let mostFormerNames = 16

    /// What stands on the parcel of a proposal: view (16) and name (16) of the item, version before (12), version (12),
    /// generation of the view's keys (4), deadline (8), and what names the program (16).
    private struct Label {
        static let size = 84
        static let programSize = 16
        /// View, name and version before: how a carrier knows the proposal.
        static let objectKey = 44

        let parcel: CircleLabel

        var object: Data { parcel.key.prefix(Self.objectKey) }
        var view: Data { parcel.key.prefix(16) }
        var item: Data { parcel.key.prefix(32) }
        var version: Data { parcel.key.dropFirst(44).prefix(RecordVersion.size) }
        var generation: UInt32 { UInt32(bigEndianBytes: parcel.key.dropFirst(56).prefix(4)) }
        var deadline: HybridTime { HybridTime(rawValue: UInt64(bigEndianBytes: parcel.key.dropFirst(60).prefix(8))) }
        var program: Data { parcel.key.suffix(Self.programSize) }
        /// Whether the store refused it. The version stays in the place of the record until the deadline, so that its
        /// program can learn that.
        var isRefused: Bool { parcel.size == RecordVersion.size }

        init?(_ parcel: CircleLabel) {
            guard parcel.key.count == Self.size else { return nil }
            self.parcel = parcel
        }

        static func all(_ tables: CircleReader) throws -> [Label] { try tables.labels(of: kind).compactMap(Label.init) }
    }

    // MARK: Making

    /// Whether another change of an item may wait for the store's decision.
    func hasRoom(for item: Data, of program: String) throws -> Bool {
        let waiting = try live()
        let program = Self.digest(of: program)
        return !waiting.contains { $0.item == item } && waiting.count < Self.most
            && waiting.count { $0.program == program } < Self.mostOfProgram
            && waiting.count { $0.view == item.prefix(16) } < Self.mostOfView
    }

    /// How many bytes of a view wait.
    func bytes(ofView view: Data) throws -> Int {
        try live().reduce(0) { $0 + ($1.view == view ? $1.parcel.size : 0) }
    }

    /// Has a proposal wait for the carrier.
    ///
    /// - Parameter base: The version that the change comes from; nil if there is none.
    func add(
        _ record: CircleRecord, at item: Data, after base: RecordVersion?, of program: String, milliseconds: Int64
    ) throws {
        let seconds = Double(max(0, min(milliseconds, ProposeInCircle.longest))) / 1_000
        let deadline = HybridTime(making.now.addingTimeInterval(seconds))
        let program = Self.digest(of: program)
        // A program that tries again has learned what became of its last try.
        for former in try Label.all(tables.reader)
        where former.isRefused && former.item == item && former.program == program {
            try tables.removeOutgoing(former.parcel)
        }
        try making.hand(
            .proposal,
            key: item + (base?.data ?? Data(count: RecordVersion.size)) + record.version.data
                + Data(record.generation.bigEndianBytes) + Data(deadline.rawValue.bigEndianBytes) + program,
            record.encoded)
    }

    private static func digest(of program: String) -> Data {
        Data(Data(program.utf8).sha256.prefix(Label.programSize))
    }

    // MARK: Handing on

    /// What a carrier that has a store decide gets, once all that it comes from was handed on. What is too late, or
    /// sealed under former keys, is dropped.
    ///
    /// - Parameters:
    ///   - limit: The most parcels.
    ///   - bytes: How long that is which goes with them.
    func objects(_ limit: Int, after bytes: Int) throws -> [CircleParcel] {
        let lock = making.keybag.keys.lockState
        guard limit > 0, lock.permits(.afterFirstUnlock) else { return [] }
        var (objects, bytes) = ([CircleParcel](), bytes)
        // Once for each view and generation: many entries may wait.
        var lacking: [Data: Bool] = [:]
        for label in try live() where objects.count < limit {
            guard var parcel = try tables.reader.outgoing(label.parcel) else { continue }
            let record = try CircleRecord(decoding: parcel.value)
            // What was decided could not be taken while it is locked.
            guard lock.permits(record.keyClass.protection.availability) else { continue }
            let place = label.view + Data(record.generation.bigEndianBytes)
            let lacksKeys = try lacking[place] ?? lacksLaterKeys(of: label.view, after: record.generation)
            lacking[place] = lacksKeys
            guard !lacksKeys else { continue }
            let names = try formerNames(of: label, record)
            parcel.key = label.object
            parcel.value = [UInt8(truncatingIfNeeded: names.count)] + names.joined() + parcel.value
            bytes += parcel.value.count
            guard bytes <= CircleObject.largest || bytes == parcel.value.count else { break }
            objects.append(parcel)
        }
        return objects
    }

    /// Whether a member gave a view keys that this vault did not get: the store would not find what the others change
    /// under them.
    private func lacksLaterKeys(of view: Data, after generation: UInt32) throws -> Bool {
        try tables.reader.waiting(of: CircleObject.Kind.viewEntry.rawValue, keyPrefix: view).contains { parcel in
            guard let entry = try? ViewEntry(decoding: parcel.value) else { return false }
            return entry.view.bytes == view && entry.generation > generation && session.log?.member(entry.signer) != nil
        }
    }

    /// The names that the item had under earlier generations of the view's keys, those of the latest first: there the
    /// store may have accepted what this vault does not know.
    private func formerNames(of label: Label, _ record: CircleRecord) throws -> [Data] {
        guard let view = Identifier16(label.view), let name = Identifier16(label.item.dropFirst(16)) else { return [] }
        let former = try tables.reader.generations(of: label.view).filter { $0 < record.generation }
        guard !former.isEmpty else { return [] }
        let body = try session.open(record, at: session.place(of: name, in: view))
        return try former.suffix(Self.mostFormerNames).reversed().compactMap { generation in
            try session.viewKey(view, generation, .afterFirstUnlock)?.name(ofPrimaryKey: body.primaryKey).bytes
        }
    }

    /// Those that are still to be decided. Removes the others.
    private func live() throws -> [Label] {
        let views = try session.heldViews()
        let now = HybridTime(making.now)
        // A clock that was set back lets none wait for years.
        let latest = HybridTime(making.now.addingTimeInterval(Double(ProposeInCircle.longest) / 1_000))
        return try tables.reader.labels(of: Self.kind).compactMap { parcel in
            guard let label = Label(parcel), now <= label.deadline, label.deadline <= latest,
                label.isRefused
                    || session.member?.rights.contains(.write) == true
                        && label.generation == Identifier16(label.view).flatMap({ views[$0]?.entry.generation })
            else {
                try tables.removeOutgoing(parcel)
                return nil
            }
            return label.isRefused ? nil : label
        }
    }

    // MARK: Decisions

    /// Takes what the store decided.
    ///
    /// An accepted version came with the decision as a record, and was taken before. If the answer of the store was
    /// lost, the version may have been replaced and removed there since: then the present version comes from it. That
    /// is looked at now, because later versions of this vault would look alike.
    ///
    /// - Parameters:
    ///   - key: That of the object.
    ///   - value: The version that the proposal makes (12), and 1 if the version before it was removed from the
    ///     store, 2 if the store accepted it.
    ///   - isWaiting: Whether a record waits in the vault.
    func decide(_ key: Data, _ value: Data, isWaiting: (Data) -> Bool) throws {
        let version = Data(value.prefix(RecordVersion.size))
        for label in try Label.all(tables.reader)
        where label.object == key && label.version == version && !label.isRefused {
            // It is decided again after the unlocking.
            guard let parcel = try tables.reader.outgoing(label.parcel), !isWaiting(parcel.value) else { return }
            var isIn = false
            if let entry = try tables.reader.item(Data(key.dropFirst(16).prefix(16)), in: Data(key.prefix(16))),
                case let present = try CircleRecord(decoding: entry.record)
            {
                isIn = try tables.reader.hasVersion(version, of: entry)
                let ancestors = try isIn ? nil : session.open(present, at: session.place(of: entry)).ancestors
                if let ancestors, ancestors.contains(try RecordVersion(decoding: version)) {
                    try tables.note(version: version, of: entry)
                    isIn = true
                } else if let ancestors, value.last == Self.isBaseGone, value.count > version.count,
                    ancestors.times.count == Ancestors.most
                {
                    // Of so many members not all are named. Nothing is known then, and the program waits in vain.
                    return
                }
            }
            try tables.removeOutgoing(label.parcel)
            // The program tries again only what is known to be refused. What etcd accepted and this vault did not take,
            // such as a record under former keys, may be in force elsewhere.
            guard !isIn, value.count == version.count || value.last == Self.isBaseGone else { continue }
            try making.hand(.proposal, key: parcel.key, version)
        }
    }

    /// What became of a proposal.
    static func state(of proposal: CircleProposal, _ tables: CircleReader) throws -> ProposalState {
        let (view, name) = (Data(proposal.item.prefix(16)), Data(proposal.item.dropFirst(16)))
        if try tables.hasVersion(proposal.version, named: name, in: view) { return .accepted }
        if let label = try labels(of: proposal, tables).first { return label.isRefused ? .refused : .pending }
        // New keys of the view give the item another name.
        let isRenamed = try tables.item(name, in: view) == nil
        return try isRenamed && tables.hasVersion(proposal.version, in: view) ? .accepted : .undecided
    }

    /// Drops a proposal.
    static func withdraw(_ proposal: CircleProposal, _ tables: CircleWriter) throws {
        for label in try labels(of: proposal, tables.reader) { try tables.removeOutgoing(label.parcel) }
    }

    private static func labels(of proposal: CircleProposal, _ tables: CircleReader) throws -> [Label] {
        try Label.all(tables).filter { $0.item == proposal.item && $0.version == proposal.version }
    }

    /// The version before is no longer in the store.
    private static let isBaseGone: UInt8 = 1
}
