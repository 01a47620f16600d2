import Access
import Bytes
import Circle
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import Sealing
import VaultInterface

/// Changes of items about which the circle's store decides.
extension VaultCircle {
    func propose(_ operation: ProposeInCircle, as client: Client) throws(VaultError) -> ProposalReply {
        let new = operation.item
        let items = VaultItems(vault: vault, gate: gate, now: now)
        let authorization = try gate.authorize(
            items.request(.exchange, new), as: client, recordedAs: new.value == nil ? .deleted : .written)
        return try gate.run(authorization, asking: new.authentication, items: { Self.isProposed($0) ? 1 : 0 }) {
            presence in
            let item = try items.storedForm(of: new, for: client)
            guard try vault.reading(for: authorization, { reader, _ in try reader.circle.isThere }) else {
                return .impossible(.noCircle)
            }
            return try vault.writing(for: authorization) { writer, keybag in
                try keybag.keys.checkAvailable(item.accessControl.protection)
                guard let session = try self.session(writer.reader.circle, keybag) else {
                    return .impossible(.noCircle)
                }
                let making = CircleMaking(session: session, writer: writer, logs: logs, now: now())
                if let obstacle = try obstacle(to: item, making) { return .impossible(obstacle) }
                // What changed here has its version before the next one is made.
                while try CircleScan(making).run() {}
                guard let held = try making.view(of: item.accessGroup) else { return .impossible(.groupStays) }
                let found = try ItemTransaction(writer, keybag, presence, now).liveItem(withPrimaryKeyOf: item)
                switch try change(found, item, operation, items) {
                case .refused(let reply): return reply
                case .made(let change):
                    return try propose(change, held, operation, client, making)
                }
            }
        }
    }

    private static func isProposed(_ reply: ProposalReply) -> Bool {
        if case .proposed = reply { true } else { false }
    }

    /// Why the circle decides nothing about an item here.
    private func obstacle(to item: StoredItem, _ making: CircleMaking) throws -> CircleObstacle? {
        let session = making.session
        if let needs = try session.needs { throw VaultError.unsupported(reason: needs) }
        guard let member = session.member else { return .noMember }
        let location = String(
            decoding: try making.tables.reader.state(CircleSession.State.location) ?? Data(), as: UTF8.self)
        guard case .etcd? = CircleLocation(location) else { return .folder }
        guard member.rights.contains(.write) else { return .mayNotWrite }
        return ItemPayload.travels(item) ? nil : .itemStays
    }

    /// A change of an item that was not made yet.
    private struct Change {
        /// The item as it is now, and its row; nil if there is none.
        var present: FoundItem?
        /// The item as it would be; nil if it is deleted.
        var next: StoredItem?
        var primaryKey: [UInt8]
        var identity: (itemClass: ItemClass, identifier: UUID)
    }

    private enum Changing {
        case made(Change)
        case refused(ProposalReply)
    }

    private func change(
        _ found: ItemTransaction.LiveItem, _ item: StoredItem, _ operation: ProposeInCircle, _ items: VaultItems
    ) throws -> Changing {
        let primaryKey = ItemPayload.primaryKey(of: item)
        switch found {
        case .withheld: return .refused(.impossible(.itemStays))
        case .none:
            guard operation.expected == nil, item.value != nil else { return .refused(.differs) }
            return .made(Change(next: item, primaryKey: primaryKey, identity: (item.itemClass, item.identifier)))
        case .found(let present):
            guard ItemPayload.travels(present.item) else { return .refused(.impossible(.itemStays)) }
            guard let expected = operation.expected, isEqualInConstantTime(present.item.value ?? Data(), expected)
            else { return .refused(.differs) }
            return .made(
                Change(
                    present: present,
                    next: item.value.map { items.exchanged(present.item, for: item, $0, of: operation.item) },
                    primaryKey: primaryKey, identity: (item.itemClass, present.item.identifier)))
        }
    }

    private func propose(
        _ change: Change, _ held: CircleSession.HeldView, _ operation: ProposeInCircle, _ client: Client,
        _ making: CircleMaking
    ) throws -> ProposalReply {
        let (session, scan, proposals) = (making.session, CircleScan(making), CircleProposals(making))
        let (view, generation) = (held.identifier, held.entry.generation)
        // Keys of a new generation come one after the other.
        let keyClass = change.next.map { ItemPayload.keyClass(of: $0) } ?? .afterFirstUnlock
        guard try session.viewKey(view, generation, keyClass) != nil,
            let key = try session.viewKey(view, generation, .afterFirstUnlock)
        else { return .occupied }
        let name = key.name(ofPrimaryKey: change.primaryKey)
        let item = view.bytes + name.bytes
        guard try proposals.hasRoom(for: item, of: client.identifier) else { return .occupied }
        let entry = try scan.entry(named: name, change.primaryKey, held)
        let known = try entry.map { try CircleRecord(decoding: $0.record) }
        if let present = change.present {
            // What was found to be too large to travel has no version of its own.
            guard let entry, entry.row == present.row.binding.rowID, entry.local == present.row.binding.itemVersion
            else { return .impossible(.tooLarge) }
        } else if known?.content == .item {
            // A deletion that has no version yet.
            return .occupied
        }
        let base = try known?.version ?? scan.forgotten(named: name, change.primaryKey, held)
        let version = RecordVersion(
            time: try making.time(ofProposalAfter: base?.time ?? .zero), member: session.number ?? 0)
        let subject: RecordBody.Subject =
            change.next.map { .item($0) }
            ?? .tombstone(
                ItemTombstone(
                    itemClass: change.identity.itemClass, identifier: change.identity.identifier, deleted: making.now,
                    primaryKey: change.primaryKey))
        let body = RecordBody(ancestors: try entry.map { try scan.ancestors(of: $0) } ?? Ancestors(), subject: subject)
        let record: CircleRecord
        do {
            record = try making.seal(body, version, at: session.place(of: name, in: view), generation)
        } catch CircleError.notPermitted {
            return .impossible(.tooLarge)
        }
        let group = making.keybag.groupDigest(held.body.name)
        // Others may wait as well: the carrier, whose writes have no quota, will write them all.
        let growth = try proposals.bytes(ofView: view.bytes) + record.size - (known?.size ?? 0)
        try checkQuota(of: client, held.body.name, group, growth: growth, making)
        try proposals.add(
            record, at: item, after: base, of: client.identifier, milliseconds: operation.milliseconds)
        // Carriers are told of changes of items.
        making.writer.touched.insert(group)
        return .proposed(CircleProposal(group: held.body.name, item: item, version: version.data))
    }

    private func checkQuota(
        of client: Client, _ name: String, _ group: Int64, growth: Int, _ making: CircleMaking
    ) throws {
        guard growth > 0, let limit = client.quotas?.bytes(of: name) else { return }
        let listings = ItemClass.stored.flatMap { making.keybag.listings(of: $0, in: [group]) }
        guard try making.writer.bytes(ofGroup: group, filedUnder: listings) + growth <= limit else {
            throw VaultError.quotaExceeded(group: name, limit: limit)
        }
    }

    func ask(_ operation: AskProposal, as client: Client) throws(VaultError) -> ProposalState {
        let proposal = operation.proposal
        // A program asks many times about one change, which was recorded when it was proposed.
        let authorization = try gate.authorize(
            AccessRequest(.exchange, accessGroup: proposal.group), as: client, recordedAs: .inspected)
        do {
            guard try vault.reading(for: authorization, { reader, _ in try reader.circle.isThere }) else {
                return .undecided
            }
            if !operation.isWithdrawn {
                return try vault.reading(for: authorization) { reader, keybag in
                    try state(of: proposal, reader.circle, keybag)
                }
            }
            return try vault.writing(for: authorization) { writer, keybag in
                let state = try state(of: proposal, writer.reader.circle, keybag)
                guard state == .pending else { return state }
                try CircleProposals.withdraw(proposal, writer.circle)
                return .refused
            }
        } catch {
            throw VaultError(error)
        }
    }

    private func state(
        of proposal: CircleProposal, _ tables: CircleReader, _ keybag: OpenedKeybag
    ) throws -> ProposalState {
        guard let view = Identifier16(proposal.item.prefix(16)),
            let held = try session(tables, keybag)?.heldViews()[view],
            held.body.name.isSameGroup(as: proposal.group)
        else { return .undecided }
        return try CircleProposals.state(of: proposal, tables)
    }
}
