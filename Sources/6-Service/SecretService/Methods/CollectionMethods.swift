import KeychainModel
import SystemBus

/// Deletes a collection with its items.
struct DeleteCollection: SecretMethod {
    static let declaration = MethodDeclaration(.collection, "Delete", out: ["prompt": "o"])

    init(_ arguments: inout SecretArguments) {}

    func answer(in client: SecretClient, at path: SecretPath) throws -> [BusArgument] {
        let collection = try client.collection(at: path)
        guard ![SecretStore.defaultCollection, SecretStore.sessionCollection].contains(collection.id) else {
            throw SecretServiceError.notSupported("the collections login and session cannot be deleted")
        }
        try client.store().delete(collection)
        client.post("CollectionDeleted", of: .service, .collection(collection.id), in: collection.group)
        return [.noPrompt]
    }
}

/// Finds items of one collection.
struct SearchCollection: SecretMethod {
    static let declaration = MethodDeclaration(
        .collection, "SearchItems", ["attributes": "a{ss}"], out: ["results": "ao"])
    let attributes: CustomAttributes

    init(_ arguments: inout SecretArguments) throws { attributes = try arguments.attributes() }

    func answer(in client: SecretClient, at path: SecretPath) throws -> [BusArgument] {
        let id = try client.collection(at: path).id
        let found = try client.store().find(in: id, with: attributes.checked())
        return [.objects(found.paths)]
    }
}

/// Makes an item, or gives the one with the same attributes a new secret.
struct CreateItem: SecretMethod {
    static let declaration = MethodDeclaration(
        .collection, "CreateItem", ["properties": "a{sv}", "secret": TransferredSecret.type, "replace": "b"],
        out: ["item": "o", "prompt": "o"])
    let label: String
    let attributes: BusValue?
    let secret: TransferredSecret
    let replaces: Bool

    init(_ arguments: inout SecretArguments) throws {
        let properties = try arguments.dictionary()
        label = properties.entry("org.freedesktop.Secret.Item.Label")?.string ?? ""
        attributes = properties.entry("org.freedesktop.Secret.Item.Attributes")
        (secret, replaces) = (try arguments.secret(), try arguments.flag())
    }

    func answer(in client: SecretClient, at path: SecretPath) throws -> [BusArgument] {
        let collection = try client.collection(at: path)
        let value = try secret.opened(in: &client.sessions)
        let attributes = try CustomAttributes(attributes).checked()
        let made = try client.store().store(
            value, in: collection.id, label: try SecretClient.checked(label), attributes: attributes,
            contentType: secret.contentType, replacing: replaces)
        client.tell(made.isNew ? "ItemCreated" : "ItemChanged", made.item)
        return [.object(made.item.path), .noPrompt]
    }
}
