import KeychainModel
import SystemBus

/// A method that reads or sets properties of one interface of an object.
protocol PropertyMethod: SecretMethod {
    /// The interface whose properties are meant; empty for the object's own.
    var interface: String { get }
}

/// Returns one property.
struct GetProperty: PropertyMethod {
    static let declaration = MethodDeclaration(
        .properties, "Get", ["interface": "s", "name": "s"], out: ["value": "v"])
    let interface: String
    let name: String

    init(_ arguments: inout SecretArguments) throws { (interface, name) = (try arguments.text(), try arguments.text()) }

    func answer(in client: SecretClient, at path: SecretPath) throws -> [BusArgument] {
        guard let property = try client.properties(of: path).first(where: { $0.name == name }) else {
            throw SecretServiceError(
                name: "org.freedesktop.DBus.Error.UnknownProperty",
                message: "there is no property \(name) of \(interface)")
        }
        return [.variant(try property.value())]
    }
}

/// Returns all properties.
struct GetProperties: PropertyMethod {
    static let declaration = MethodDeclaration(.properties, "GetAll", ["interface": "s"], out: ["values": "a{sv}"])
    let interface: String

    init(_ arguments: inout SecretArguments) throws { interface = try arguments.text() }

    func answer(in client: SecretClient, at path: SecretPath) throws -> [BusArgument] {
        let all = try client.properties(of: path).sorted { $0.name < $1.name }
        return [.array(of: "{sv}", try all.map { .entry(.string($0.name), .variant(try $0.value())) })]
    }
}

/// Sets a property.
struct SetProperty: PropertyMethod {
    static let declaration = MethodDeclaration(.properties, "Set", ["interface": "s", "name": "s", "value": "v"])
    let interface: String
    let name: String
    let value: BusValue

    init(_ arguments: inout SecretArguments) throws {
        (interface, name, value) = (try arguments.text(), try arguments.text(), try arguments.content())
    }

    func answer(in client: SecretClient, at path: SecretPath) throws -> [BusArgument] {
        switch (path, name, value) {
        case (.collection(let id), "Label", .string(let label)):
            guard id != SecretStore.sessionCollection else {
                throw SecretServiceError.notSupported("the collection session keeps its label")
            }
            let collection = try client.store().store(
                collection: try client.collection(at: path), label: try SecretClient.checked(label))
            client.post("CollectionChanged", of: .service, .collection(collection.id), in: collection.group)
        case (.item, "Label", .string(let label)):
            let item = try client.item(at: path)
            try client.store().change(
                item, ItemChanges(attributes: [.label: .string(try SecretClient.checked(label))]))
            client.tell("ItemChanged", item)
        case (.item, "Attributes", .array):
            let item = try client.item(at: path)
            var changes = ItemChanges()
            changes.customAttributes = try CustomAttributes(value).checked()
            try client.store().change(item, changes)
            client.tell("ItemChanged", item)
        default:
            throw SecretServiceError(
                name: "org.freedesktop.DBus.Error.PropertyReadOnly", message: "\(name) cannot be set")
        }
        return []
    }
}
