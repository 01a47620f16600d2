import Bytes
import FoundationEssentials
import KeychainModel
import SystemBus

/// A property of objects.
struct SecretProperty<Object>: Sendable {
    let name: String
    /// In D-Bus's notation.
    let type: String
    var isWritable = false
    let value: @Sendable (Object) throws -> BusArgument

    func of(_ object: Object) -> (name: String, value: () throws -> BusArgument) { (name, { try value(object) }) }
}

/// The properties of the objects of each interface.
enum SecretProperties {
    static let service: [SecretProperty<SecretClient>] = [
        SecretProperty(name: "Collections", type: "ao") { client in
            let collections = try client.store().collections()
            for collection in collections { client.hub.remember(collection.id, of: collection.group) }
            return .objects(collections.map { .collection($0.id) })
        }
    ]

    typealias OpenCollection = (collection: SecretStore.Collection, isLocked: Bool, client: SecretClient)

    static let collection: [SecretProperty<OpenCollection>] = [
        SecretProperty(name: "Items", type: "ao") { .objects(try $0.client.store().find(in: $0.collection.id).paths) },
        SecretProperty(name: "Label", type: "s", isWritable: true) { .string($0.collection.label) },
        SecretProperty(name: "Locked", type: "b") { .boolean($0.isLocked) },
        SecretProperty(name: "Created", type: "t") { seconds($0.collection.stored?.creationDate) },
        SecretProperty(name: "Modified", type: "t") { seconds($0.collection.stored?.modificationDate) },
    ]

    /// A locked item is nil here: nothing is known of it.
    static let item: [SecretProperty<SecretStore.Item?>] = [
        SecretProperty(name: "Locked", type: "b") { .boolean($0 == nil) },
        SecretProperty(name: "Attributes", type: "a{ss}", isWritable: true) { item in
            let attributes = (item?.attributes ?? [:]).sorted { $0.key < $1.key }
            return .array(of: "{ss}", attributes.map { .entry(.string($0.key), .string($0.value)) })
        },
        SecretProperty(name: "Label", type: "s", isWritable: true) { .string($0?.label ?? "") },
        SecretProperty(name: "Type", type: "s") { .string($0?.attributes["xdg:schema"] ?? "") },
        SecretProperty(name: "Created", type: "t") { seconds($0?.stored.creationDate) },
        SecretProperty(name: "Modified", type: "t") { seconds($0?.stored.modificationDate) },
    ]

    private static func seconds(_ date: Date?) -> BusArgument {
        .unsigned64(UInt64(clamping: max(0, date?.timeIntervalSince1970 ?? 0)))
    }
}

extension SecretClient {
    /// Returns the properties of an object. Each is made when it is asked for: a program that asks whether a collection
    /// is locked must not wait for the list of its items.
    func properties(of path: SecretPath) throws -> [(name: String, value: () throws -> BusArgument)] {
        switch path {
        case .service: return SecretProperties.service.map { $0.of(self) }
        case .collection(let id):
            let collection = try collection(at: path)
            hub.remember(collection.id, of: collection.group)
            let isLocked = hub.isLocked && id != SecretStore.sessionCollection
            return SecretProperties.collection.map { $0.of((collection, isLocked, self)) }
        case .item(let collection, let id):
            let found = try store().find(in: collection, id: id)
            let item = found.locked.isEmpty ? found.items.first : nil
            guard item != nil || !found.locked.isEmpty else { throw SecretServiceError.noObject(path.text) }
            return SecretProperties.item.map { $0.of(item) }
        case .session, .prompt, .alias: return []
        }
    }
}
