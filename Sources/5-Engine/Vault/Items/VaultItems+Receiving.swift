import Access
import Bytes
import FoundationEssentials
import Keybag
import KeychainModel
import VaultInterface

extension VaultItems {
    func receive(_ operation: ReceiveItems, as client: Client) throws(VaultError) -> [StoredItem] {
        let requests = Set(
            operation.items.map { AccessRequest(.add, itemClass: $0.itemClass, accessGroup: operation.group(of: $0)) })
        // What the audit log says: the class and the group, if there is one.
        let (classes, groups) = (Set(requests.map(\.itemClass)), Set(requests.map(\.accessGroup)))
        let authorization = try gate.authorize(
            AccessRequest(
                .add, itemClass: classes.count == 1 ? classes.first ?? nil : nil,
                accessGroup: groups.count == 1 ? groups.first ?? nil : nil),
            as: client, recordedAs: .written)
        for request in requests { _ = try gate.authorize(request, as: client, recordedAs: .written) }
        var digests: [UInt64] = []
        return try gate.run(
            authorization, asking: operation.options, items: { $0.count }, digests: { digests }
        ) { presence in
            guard !operation.items.isEmpty, operation.items.count + operation.former.count <= ReceiveItems.most else {
                throw VaultError.invalidRequest(
                    reason: "1 to \(ReceiveItems.most) items, with their former values, are taken in at once")
            }
            let items = try operation.items.map { try received($0, by: operation) }
            let former = try formerValues(operation)
            digests = []
            note(items, in: &digests)
            try vault.writing(for: authorization) { writer, keybag in
                let transaction = ItemTransaction(writer, keybag, presence, now)
                for (number, item) in items.enumerated() {
                    try keybag.keys.checkAvailable(item.accessControl.protection)
                    if operation.keepsIdentity { try transaction.requireUnusedIdentifier(of: item) }
                    try transaction.insert(item, after: former[number] ?? [])
                }
            }
            return items
        }
    }

    private func formerValues(_ operation: ReceiveItems) throws(VaultError) -> [Int: [ReceiveItems.FormerValue]] {
        guard operation.former.allSatisfy({ Int($0.item) < operation.items.count && $0.ended.isStorable }) else {
            throw .invalidRequest(reason: "a former value is of no item, or has a date that cannot be stored")
        }
        for former in operation.former { try checkSize(former.value) }
        return Dictionary(grouping: operation.former) { Int($0.item) }
    }

    /// Returns an item of another vault in the form in which it will be stored.
    private func received(_ item: StoredItem, by operation: ReceiveItems) throws(VaultError) -> StoredItem {
        try checkEnforceable(item.accessControl, isSynchronizable: item.isSynchronizable)
        try checkSize(item.value)
        try check(item.customAttributes)
        var stored = item
        stored.accessGroup = operation.group(of: item)
        guard StoredItem.versions.contains(item.version) else {
            throw .invalidRequest(reason: "an item has the version \(item.version); versions are from 1 to 2^62")
        }
        if !operation.keepsIdentity {
            let now = now()
            stored.identifier = UUID()
            (stored.creationDate, stored.modificationDate) = (now, now)
            stored.version = 1
        }
        return stored
    }
}

extension ReceiveItems {
    fileprivate func group(of item: StoredItem) -> String { accessGroup ?? item.accessGroup }
}
