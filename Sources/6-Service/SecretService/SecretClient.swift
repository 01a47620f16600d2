import Bytes
import FoundationEssentials
import KeychainModel
import SystemBus
import VaultInterface

/// The Secret Service (https://specifications.freedesktop.org/secret-service, 0.2) for one program, which has a
/// connection of its own.
///
/// Secrets go over the socket as they are (the session algorithm `plain`): nobody else can read what is in it.
final class SecretClient {
    private let peer: BusPeer
    private let store: SecretStore
    private var sessions: Set<String> = []
    private var sessionCount = 0
    /// The most sessions of one program.
    private static let sessionLimit = 64

    init(_ peer: BusPeer, _ store: SecretStore) { (self.peer, self.store) = (peer, store) }

    /// Answers until the program ends the connection or `interruption` is readable.
    func serve(interruption: Int32) {
        while let call = try? peer.next(interruption: interruption) {
            do {
                let answer = try answer(call)
                try peer.reply(to: call, answer.values, isSecret: answer.isSecret)
            } catch let error as BusError {
                // A connection that cannot be answered is over.
                _ = error
                return
            } catch {
                let failure = SecretServiceError(error)
                guard (try? peer.refuse(call, failure.name, failure.message)) != nil else { return }
            }
        }
    }

    private struct Answer {
        var values: [BusArgument] = []
        var isSecret = false
    }

    private func answer(_ call: BusCall) throws -> Answer {
        switch call.interface {
        case "org.freedesktop.DBus": return Answer(values: try BusNames.answer(call))
        case "org.freedesktop.DBus.Introspectable":
            return Answer(values: [.string("<node/>")])
        case "org.freedesktop.DBus.Properties": return Answer(values: try properties(call))
        default: break
        }
        guard let path = SecretPath(call.path) else { throw SecretServiceError.noObject(call.path) }
        switch (path, call.member) {
        case (.service, "OpenSession"): return Answer(values: try openSession(call))
        case (.service, "CreateCollection"): return Answer(values: try createCollection(call))
        case (.service, "SearchItems"):
            let found = try store.items(with: try Self.attributes(call.arguments.first)).map(Self.path)
            return Answer(values: [.array(of: "o", found), .array(of: "o", [])])
        // Who asks gets what it asks for: the vault itself asks for a passcode when a secret is read.
        case (.service, "Unlock"):
            return Answer(values: [.array(of: "o", Self.paths(call.arguments.first)), .path(SecretPath.none)])
        case (.service, "Lock"): return Answer(values: [.array(of: "o", []), .path(SecretPath.none)])
        case (.service, "GetSecrets"): return Answer(values: [try secrets(call)], isSecret: true)
        case (.service, "ReadAlias"):
            let collection = call.arguments.first?.string.flatMap(SecretAlias.collection)
            return Answer(values: [.path(collection.map { SecretPath.collection($0).text } ?? SecretPath.none)])
        case (.service, "SetAlias"):
            throw SecretServiceError.notSupported("the default collection stays the default")
        case (.collection(let id), "SearchItems"):
            let found = try store.items(in: try collection(id).id, with: try Self.attributes(call.arguments.first))
            return Answer(values: [.array(of: "o", found.map(Self.path))])
        case (.collection(let id), "CreateItem"): return Answer(values: try createItem(call, try collection(id).id))
        case (.collection(let id), "Delete"):
            let collection = try collection(id)
            guard SecretAlias.collection(collection.id) == nil else {
                throw SecretServiceError.notSupported("the collections login and session cannot be deleted")
            }
            try store.delete(collection)
            try emit(.service, "CollectionDeleted", .collection(collection.id))
            return Answer(values: [.path(SecretPath.none)])
        case (.item, "GetSecret"):
            let session = try session(call.arguments.first)
            return Answer(values: [try secret(of: try item(path), session)], isSecret: true)
        case (.item, "SetSecret"):
            let item = try item(path)
            let secret = try secret(call.arguments.first)
            try store.change(
                item,
                ItemChanges(attributes: [.itemDescription: .string(secret.contentType)], value: secret.value))
            try emit(.collection(item.collection), "ItemChanged", path)
            return Answer()
        case (.item, "Delete"):
            let item = try item(path)
            try store.delete(item)
            try emit(.collection(item.collection), "ItemDeleted", path)
            return Answer(values: [.path(SecretPath.none)])
        case (.session(let id), "Close"):
            guard sessions.remove(id) != nil else { throw SecretServiceError.noObject(call.path) }
            return Answer()
        default: throw SecretServiceError.unknownMethod(call.interface, call.member)
        }
    }

    // MARK: Objects

    private func collection(_ id: String) throws -> SecretStore.Collection {
        guard let found = try store.collections().first(where: { $0.id == id }) else {
            throw SecretServiceError.noObject(SecretPath.collection(id).text)
        }
        return found
    }

    private func item(_ path: SecretPath) throws -> SecretStore.Item {
        guard case .item(let collection, let id) = path, let found = try store.items(in: collection, id: id).first
        else {
            throw SecretServiceError.noObject(path.text)
        }
        return found
    }

    private static func path(_ item: SecretStore.Item) -> BusArgument {
        .path(SecretPath.item(collection: item.collection, id: item.id).text)
    }

    private static func paths(_ value: BusValue?) -> [BusArgument] {
        (value?.elements ?? []).compactMap(\.string).map { .path($0) }
    }

    private func emit(_ source: SecretPath, _ member: String, _ object: SecretPath) throws {
        let interface = source == .service ? "Service" : "Collection"
        try peer.emit(source.text, "org.freedesktop.Secret.\(interface)", member, [.path(object.text)])
    }

    // MARK: Sessions and secrets

    private func openSession(_ call: BusCall) throws -> [BusArgument] {
        guard call.arguments.first?.string == "plain" else {
            throw SecretServiceError.notSupported("this socket has the session algorithm plain: nobody else reads it")
        }
        guard sessions.count < Self.sessionLimit else {
            throw SecretServiceError(
                name: "org.freedesktop.DBus.Error.LimitsExceeded",
                message: "a program has at most \(Self.sessionLimit) sessions: close some")
        }
        sessionCount += 1
        let id = "s\(sessionCount)"
        sessions.insert(id)
        return [.variant(.string("")), .path(SecretPath.session(id).text)]
    }

    private func session(_ value: BusValue?) throws -> SecretPath {
        guard let path = value?.string.flatMap({ SecretPath($0) }), case .session(let id) = path, sessions.contains(id)
        else { throw SecretServiceError.noSession }
        return path
    }

    private func secret(of item: SecretStore.Item, _ session: SecretPath) throws -> BusArgument {
        guard let value = try store.secret(of: item) else {
            throw SecretServiceError.noObject(SecretPath.item(collection: item.collection, id: item.id).text)
        }
        let type = item.contentType.isEmpty ? "text/plain" : item.contentType
        return .structure([.path(session.text), .bytes([]), .bytes(Array(value)), .string(type)])
    }

    private func secrets(_ call: BusCall) throws -> BusArgument {
        guard call.arguments.count == 2 else {
            throw SecretServiceError.invalid("GetSecrets takes items and a session")
        }
        let session = try session(call.arguments[1])
        var found: [BusArgument] = []
        for text in (call.arguments[0].elements ?? []).compactMap(\.string) {
            guard let path = SecretPath(text), let item = try? item(path) else { continue }
            found.append(.entry(.path(text), try secret(of: item, session)))
        }
        return .array(of: "{o(oayays)}", found)
    }

    private func secret(_ value: BusValue?) throws -> (value: Data, contentType: String) {
        guard let parts = value?.elements, parts.count == 4 else {
            throw SecretServiceError.invalid("a secret has a session, parameters, a value and a type")
        }
        _ = try session(parts[0])
        let bytes = (parts[2].elements ?? []).compactMap { value -> UInt8? in
            if case .byte(let byte) = value { byte } else { nil }
        }
        return (.wipedWhenFreed(Data(bytes)), parts[3].string ?? "")
    }

    // MARK: Making

    private func createItem(_ call: BusCall, _ collection: String) throws -> [BusArgument] {
        guard call.arguments.count == 3 else {
            throw SecretServiceError.invalid("CreateItem takes properties, a secret, and whether to replace")
        }
        let properties = call.arguments[0]
        let secret = try secret(call.arguments[1])
        let attributes = try Self.attributes(properties.entry("org.freedesktop.Secret.Item.Attributes"))
        let made = try store.store(
            secret.value, in: collection, label: properties.entry("org.freedesktop.Secret.Item.Label")?.string ?? "",
            attributes: attributes, contentType: secret.contentType, replacing: call.arguments[2].boolean ?? false)
        let path = SecretPath.item(collection: collection, id: made.item.id)
        try emit(.collection(collection), made.isNew ? "ItemCreated" : "ItemChanged", path)
        return [.path(path.text), .path(SecretPath.none)]
    }

    private func createCollection(_ call: BusCall) throws -> [BusArgument] {
        guard call.arguments.count == 2 else {
            throw SecretServiceError.invalid("CreateCollection takes properties and an alias")
        }
        // There is one collection for an alias.
        if let alias = call.arguments[1].string, !alias.isEmpty {
            guard let id = SecretAlias.collection(alias) else {
                throw SecretServiceError.notSupported("the only aliases are default, login and session")
            }
            return [.path(SecretPath.collection(id).text), .path(SecretPath.none)]
        }
        let label = call.arguments[0].entry("org.freedesktop.Secret.Collection.Label")?.string ?? ""
        let made = try store.store(collection: nil, label: label)
        try emit(.service, "CollectionCreated", .collection(made.id))
        return [.path(SecretPath.collection(made.id).text), .path(SecretPath.none)]
    }

    private static func attributes(_ value: BusValue?) throws -> CustomAttributes {
        var attributes: CustomAttributes = [:]
        for entry in value?.elements ?? [] {
            guard let name = entry.elements?.first?.string, let text = entry.elements?.last?.string else {
                throw SecretServiceError.invalid("attributes are texts by name")
            }
            attributes[name] = text
        }
        if let problem = attributes.problem { throw SecretServiceError.invalid(problem) }
        return attributes
    }

    // MARK: Properties

    private func properties(_ call: BusCall) throws -> [BusArgument] {
        guard let path = SecretPath(call.path) else { throw SecretServiceError.noObject(call.path) }
        let interface = call.arguments.first?.string ?? ""
        switch call.member {
        case "GetAll":
            let all = try values(of: path).map { BusArgument.entry(.string($0.key), .variant($0.value)) }
            return [.array(of: "{sv}", all)]
        case "Get":
            let name = call.arguments.last?.string ?? ""
            guard let value = try values(of: path)[name] else {
                throw SecretServiceError(
                    name: "org.freedesktop.DBus.Error.UnknownProperty",
                    message: "there is no property \(name) of \(interface)")
            }
            return [.variant(value)]
        case "Set":
            guard call.arguments.count == 3 else { throw SecretServiceError.invalid("Set takes a name and a value") }
            try set(path, call.arguments[1].string ?? "", call.arguments[2].content)
            return []
        default: throw SecretServiceError.unknownMethod(call.interface, call.member)
        }
    }

    private func values(of path: SecretPath) throws -> [String: BusArgument] {
        func seconds(_ date: Date?) -> BusArgument { .unsigned64(UInt64(max(0, date?.timeIntervalSince1970 ?? 0))) }
        switch path {
        case .service:
            let paths = try store.collections().map { BusArgument.path(SecretPath.collection($0.id).text) }
            return ["Collections": .array(of: "o", paths)]
        case .collection(let id):
            let collection = try collection(id)
            return [
                "Items": .array(of: "o", try store.items(in: collection.id).map(Self.path)),
                "Label": .string(collection.label), "Locked": .boolean(false),
                "Created": seconds(collection.stored?.creationDate),
                "Modified": seconds(collection.stored?.modificationDate),
            ]
        case .item:
            let item = try item(path)
            let attributes = item.attributes.sorted { $0.key < $1.key }
            return [
                "Attributes": .array(
                    of: "{ss}", attributes.map { BusArgument.entry(.string($0.key), .string($0.value)) }),
                "Label": .string(item.label), "Locked": .boolean(false),
                "Type": .string(item.attributes["xdg:schema"] ?? ""), "Created": seconds(item.stored.creationDate),
                "Modified": seconds(item.stored.modificationDate),
            ]
        case .session: return [:]
        }
    }

    private func set(_ path: SecretPath, _ name: String, _ value: BusValue?) throws {
        switch (path, name, value) {
        case (.collection(let id), "Label", .string(let label)?):
            guard id != SecretStore.sessionCollection else {
                throw SecretServiceError.notSupported("the collection session keeps its label")
            }
            let collection = try store.store(collection: try collection(id).id, label: label)
            try emit(.service, "CollectionChanged", .collection(collection.id))
        case (.item, "Label", .string(let label)?):
            let item = try item(path)
            try store.change(item, ItemChanges(attributes: [.label: .string(label)]))
            try emit(.collection(item.collection), "ItemChanged", path)
        case (.item, "Attributes", .array?):
            let item = try item(path)
            var changes = ItemChanges()
            changes.customAttributes = try Self.attributes(value)
            try store.change(item, changes)
            try emit(.collection(item.collection), "ItemChanged", path)
        default:
            throw SecretServiceError(
                name: "org.freedesktop.DBus.Error.PropertyReadOnly", message: "\(name) cannot be set")
        }
    }
}

/// What programs ask a bus for. There is one service, which is always there.
private enum BusNames {
    private static let secrets = "org.freedesktop.secrets"

    static func answer(_ call: BusCall) throws -> [BusArgument] {
        let name = call.arguments.first?.string ?? ""
        switch call.member {
        case "Hello": return [.string(":1.1")]
        case "AddMatch", "RemoveMatch": return []
        case "NameHasOwner": return [.boolean(isThere(name))]
        case "StartServiceByName" where isThere(name): return [.unsigned32(2)]
        case "GetNameOwner" where isThere(name): return [.string(BusPeer.serviceName)]
        case "ListNames", "ListActivatableNames":
            return [.array(of: "s", [.string("org.freedesktop.DBus"), .string(secrets)])]
        case "GetId": return [.string("00000000000000000000000000000001")]
        default:
            throw isThere(name)
                ? SecretServiceError.unknownMethod(call.interface, call.member)
                : SecretServiceError(
                    name: "org.freedesktop.DBus.Error.ServiceUnknown", message: "there is only \(secrets) here")
        }
    }

    private static func isThere(_ name: String) -> Bool {
        [secrets, BusPeer.serviceName, "org.freedesktop.DBus"].contains(name)
    }
}
