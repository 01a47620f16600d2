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
/// Each is a parcel among what is to be handed on. Its key is that of the object, and then the deadline (8) and what
/// names the program (16).
struct CircleProposals {
    let making: CircleMaking

    private var session: CircleSession { making.session }
    private var tables: CircleWriter { making.tables }

    init(_ making: CircleMaking) { self.making = making }

    static let kind = CircleObject.Kind.proposal.rawValue
    /// View, name of the item, version before.
    private static let objectKey = 44
    private static let programSize = 16
    /// The most that wait for one program, in one view, so that programs of others keep room, and in all. Each may have
    /// 512 KiB.
    private static let mostOfProgram = 16
    private static let mostOfView = 64
    private static let most = 256

    // MARK: Making

    /// Whether another change of an item may wait for the store's decision.
    func hasRoom(for item: Data, of program: String) throws -> Bool {
        let waiting = try live()
        let program = Self.digest(of: program)
        return !waiting.contains { $0.key.prefix(32) == item } && waiting.count < Self.most
            && waiting.count { $0.key.suffix(Self.programSize) == program } < Self.mostOfProgram
            && waiting.count { $0.key.prefix(16) == item.prefix(16) } < Self.mostOfView
    }

    /// Has a proposal wait for the carrier.
    ///
    /// - Parameter base: The version that the change comes from; nil if there is none.
    func add(
        _ record: CircleRecord, at item: Data, after base: RecordVersion?, of program: String, milliseconds: Int64
    ) throws {
        let seconds = Double(max(0, min(milliseconds, ProposeInCircle.longest))) / 1_000
        let deadline = HybridTime(making.now.addingTimeInterval(seconds))
        try making.hand(
            .proposal,
            key: item + (base?.data ?? Data(count: RecordVersion.size)) + Data(deadline.rawValue.bigEndianBytes)
                + Self.digest(of: program), record.encoded)
    }

    private static func digest(of program: String) -> Data {
        Data(Data(program.utf8).sha256.prefix(programSize))
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
        for var parcel in try live() where objects.count < limit {
            let record = try CircleRecord(decoding: parcel.value)
            // What was decided could not be taken while it is locked.
            guard lock.permits(record.keyClass.protection.availability) else { continue }
            bytes += record.size
            guard bytes <= CircleObject.largest || bytes == record.size else { break }
            parcel.key = Data(parcel.key.prefix(Self.objectKey))
            objects.append(parcel)
        }
        return objects
    }

    /// Those that are still to be decided. Removes the others.
    private func live() throws -> [CircleParcel] {
        let views = try session.heldViews()
        let now = HybridTime(making.now)
        // A clock that was set back lets none wait for years.
        let latest = HybridTime(making.now.addingTimeInterval(Double(ProposeInCircle.longest) / 1_000))
        return try tables.reader.outgoing(of: Self.kind).filter { parcel in
            let deadline = HybridTime(
                rawValue: UInt64(bigEndianBytes: parcel.key.dropFirst(Self.objectKey).prefix(8)))
            if Self.isRefused(parcel), now <= deadline, deadline <= latest { return false }
            if !Self.isRefused(parcel), session.member?.rights.contains(.write) == true, now <= deadline,
                deadline <= latest,
                let view = Identifier16(parcel.key.prefix(16)),
                try CircleRecord(decoding: parcel.value).generation == views[view]?.entry.generation
            {
                return true
            }
            try tables.removeOutgoing(parcel)
            return false
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
        for parcel in try tables.reader.outgoing(of: Self.kind)
        where parcel.key.prefix(Self.objectKey) == key && Self.version(of: parcel) == version
            && !Self.isRefused(parcel)
        {
            // It is decided again after the unlocking.
            guard !isWaiting(parcel.value) else { return }
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
            try tables.removeOutgoing(parcel)
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
        if let parcel = try parcels(of: proposal, tables).first { return isRefused(parcel) ? .refused : .pending }
        // New keys of the view give the item another name.
        let isRenamed = try tables.item(name, in: view) == nil
        return try isRenamed && tables.hasVersion(proposal.version, in: view) ? .accepted : .undecided
    }

    /// Drops a proposal.
    static func withdraw(_ proposal: CircleProposal, _ tables: CircleWriter) throws {
        for parcel in try parcels(of: proposal, tables.reader) { try tables.removeOutgoing(parcel) }
    }

    private static func parcels(of proposal: CircleProposal, _ tables: CircleReader) throws -> [CircleParcel] {
        try tables.outgoing(of: kind).filter {
            $0.key.prefix(32) == proposal.item && version(of: $0) == proposal.version
        }
    }

    private static func version(of parcel: CircleParcel) -> Data? {
        isRefused(parcel) ? parcel.value : try? CircleRecord(decoding: parcel.value).version.data
    }

    /// The version before is no longer in the store.
    private static let isBaseGone: UInt8 = 1

    /// Whether the store refused it. The version stays in the place of the record until the deadline, so that its
    /// program can learn that.
    private static func isRefused(_ parcel: CircleParcel) -> Bool { parcel.value.count == RecordVersion.size }
}
