import Access
import Bytes
import Circle
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import Sealing
import VaultInterface

extension VaultCircle {
    func conflicts(
        _ operation: ReadCircleConflicts, as client: Client, send: Sink<CircleConflict>
    ) throws(VaultError) {
        let authorization = try gate.authorize(
            AccessRequest(operation.isForgetting ? .update : .status, isAboutWholeVault: true), as: client,
            recordedAs: operation.isForgetting ? .written : .listed)
        try gate.run(authorization) {
            let found = try vault.reading(for: authorization) { reader, keybag in
                try session(reader.circle, keybag).map { try conflicts($0, reader) } ?? []
            }
            for (_, conflict) in found { try send(conflict) }
            guard operation.isForgetting, !found.isEmpty else { return }
            try vault.writing(for: authorization) { writer, _ in
                for (number, _) in found { try writer.circle.removeConflict(number) }
            }
        }
    }

    private func conflicts(
        _ session: CircleSession, _ reader: ItemStore.Reader
    ) throws -> [(number: Int64, conflict: CircleConflict)] {
        let views = try session.heldViews()
        return try reader.circle.conflicts().compactMap { number, view, name, found, bytes in
            guard let view = Identifier16(view), let name = Identifier16(name), let held = views[view] else {
                return nil
            }
            let record = try CircleRecord(decoding: bytes)
            var conflict = CircleConflict(
                group: held.body.name, found: found, member: record.version.member, item: nil,
                isDeletion: record.content == .tombstone, differences: [])
            do {
                let body = try session.open(record, at: session.place(of: name, in: view))
                let present = try present(body.primaryKey, held, session, reader)
                conflict.differences = Self.differences(body.subject, present)
                if case .item(var item) = body.subject {
                    item.value = nil
                    conflict.item = item
                }
            } catch KeybagError.locked {
                // It is told without what is locked.
            }
            return (number, conflict)
        }
    }

    /// The item that is in force, with its value; nil if it is deleted.
    private func present(
        _ primaryKey: [UInt8], _ held: CircleSession.HeldView, _ session: CircleSession, _ reader: ItemStore.Reader
    ) throws -> StoredItem? {
        guard let key = try session.viewKey(held.identifier, held.entry.generation, .afterFirstUnlock),
            let entry = try reader.circle.item(key.name(ofPrimaryKey: primaryKey).bytes, in: held.identifier.bytes),
            let row = try reader.row(entry.row, includingCiphertext: true), !row.binding.isTombstone
        else { return nil }
        var item = try session.keybag.openMetadata(of: row)
        item.value = try session.keybag.openValue(of: row, accessControl: item.accessControl, .waived)
        return item
    }

    private static func differences(_ lost: RecordBody.Subject, _ present: StoredItem?) -> [String] {
        guard case .item(let lost) = lost else { return ["deleted"] }
        guard let present else { return ["deleted"] }
        var names: [String] = []
        if !isEqualInConstantTime(lost.value ?? Data(), present.value ?? Data()) { names.append("value") }
        let attributes = Set(lost.attributes.map(\.key)).union(present.attributes.map(\.key))
        names += attributes.filter { lost.attributes[$0] != present.attributes[$0] }.map(name).sorted()
        let custom = Set(lost.customAttributes.keys).union(present.customAttributes.keys)
        names += custom.filter { lost.customAttributes[$0] != present.customAttributes[$0] }.sorted()
        if lost.accessControl != present.accessControl { names.append("accessible") }
        if lost.expiry != present.expiry { names.append("expires") }
        return names
    }

    private static func name(_ attribute: AttributeName) -> String {
        switch attribute {
        case .label: "label"
        case .comment: "comment"
        case .service: "service"
        case .account: "account"
        default: attribute.string
        }
    }
}
