import Foundation
import KeychainModel

/// What `SecItemUpdate` is asked.
struct UpdateRequest {
    let query: ItemQuery
    let changes: ItemChanges
    let context: (any _SecAuthenticationContext)?

    init(_ dictionary: NSDictionary, changes: NSDictionary) throws(SecItemFailure) {
        let parts = try ItemDictionary(dictionary)
        guard parts.returns.isEmpty, parts.match.count == 0, !parts.use.skipsConstrainedItems else {
            throw .parameter
        }
        query = try parts.query(try AttributeTerms(parts.attributes, of: parts.itemClass))
        context = parts.use.context
        self.changes = try Self.changes(changes, of: parts.itemClass)
        // What has constraints stays on the machine that can enforce them.
        if self.changes.accessControl?.flags != nil {
            let isSynchronizable = self.changes.isSynchronizable ?? (query.synchronizable == .synchronizableOnly)
            guard !isSynchronizable else { throw .parameter }
        }
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
