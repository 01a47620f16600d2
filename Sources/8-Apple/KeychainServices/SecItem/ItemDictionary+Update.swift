import Foundation
import KeychainModel
import VaultInterface

/// `SecItemUpdate`.
extension ItemDictionary {
    func update(with changes: NSDictionary, in session: VaultSession) throws {
        let operation = try updateItems(with: changes)
        try use.begin(in: session)
        try session.perform(operation)
    }

    func updateItems(with changes: NSDictionary) throws(SecItemFailure) -> UpdateItems {
        guard returns.isEmpty, match.count == 0, !use.skipsConstrainedItems else { throw .parameter }
        let query = try query(try terms())
        let changes = try Self.changes(changes, of: itemClass)
        // What has constraints stays on the machine that can enforce them.
        if changes.accessControl?.flags != nil {
            let isSynchronizable = changes.isSynchronizable ?? (query.synchronizable == .synchronizableOnly)
            guard !isSynchronizable else { throw .parameter }
        }
        return UpdateItems(query, with: changes)
    }

    /// Only attributes of the class and the value may be changed; every other key is refused as an
    /// attribute that does not exist.
    private static func changes(
        _ dictionary: NSDictionary, of itemClass: ItemClass
    ) throws(SecItemFailure) -> ItemChanges {
        guard dictionary.count <= ItemDictionary.greatestCount else { throw .parameter }
        var entries: [(name: AttributeName, value: Any)] = []
        var value: Data?
        for (key, entry) in dictionary {
            guard let key = key as? String else { throw .parameter }
            switch AttributeName(key) {
            case AttributeName.dataProtectionKeychain, AttributeName.multiUser:
                continue
            case AttributeName.sharingGroup:
                throw .parameter
            case let name?:
                entries.append((name, entry))
            case nil:
                guard key == "v_Data" else { throw .noSuchAttribute }
                guard let data = entry as? Data else { throw .parameter }
                value = data
            }
        }
        let terms = try AttributeTerms(entries, of: itemClass)
        var attributes = terms.settableAttributes
        attributes[.creationDate] = terms.attributes[.creationDate]
        return ItemChanges(
            attributes: attributes, accessGroup: terms.accessGroup, accessControl: terms.control,
            isSynchronizable: terms.synchronizable.flatMap { $0 == .any ? nil : $0 == .synchronizableOnly },
            value: value)
    }
}
