import KeychainModel
import SystemBus

/// Deletes an item.
struct DeleteItem: SecretMethod {
    static let declaration = MethodDeclaration(.item, "Delete", out: ["prompt": "o"])

    init(_ arguments: inout SecretArguments) {}

    func answer(in client: SecretClient, at path: SecretPath) throws -> [BusArgument] {
        let item = try client.item(at: path)
        try client.store().delete(item)
        client.tell("ItemDeleted", item)
        return [.noPrompt]
    }
}

/// Returns the secret of an item.
struct GetSecret: SecretMethod {
    static let declaration = MethodDeclaration(
        .item, "GetSecret", ["session": "o"], out: ["secret": TransferredSecret.type])
    let session: String

    init(_ arguments: inout SecretArguments) throws { session = try arguments.text() }

    func answer(in client: SecretClient, at path: SecretPath) throws -> [BusArgument] {
        let opened = try client.sessions.session(at: session)
        let item = try client.item(at: path, includingSecret: true)
        return [try TransferredSecret(of: item, in: opened, at: session).argument]
    }
}

/// Gives an item another secret.
struct SetSecret: SecretMethod {
    static let declaration = MethodDeclaration(.item, "SetSecret", ["secret": TransferredSecret.type])
    let secret: TransferredSecret

    init(_ arguments: inout SecretArguments) throws { secret = try arguments.secret() }

    func answer(in client: SecretClient, at path: SecretPath) throws -> [BusArgument] {
        let item = try client.item(at: path)
        let value = try secret.opened(in: &client.sessions)
        try client.store().change(
            item, ItemChanges(attributes: [.itemDescription: .string(secret.contentType)], value: value))
        client.tell("ItemChanged", item)
        return []
    }
}
