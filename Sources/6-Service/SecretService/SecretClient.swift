import Access
import Bytes
import FoundationEssentials
import KeychainModel
import SystemBus
import VaultInterface

/// The Secret Service (https://specifications.freedesktop.org/secret-service, 0.2) for one program.
final class SecretClient: BusClient {
    private let access: SecretAccess
    private let hub: SecretHub
    let mailbox: Mailbox
    private var sessions: [String: SecretSession] = [:]
    /// The one that was used last at the end.
    private var sessionOrder: [String] = []
    private var prompts = SecretPrompts()
    /// The most sessions of one program. One more takes the place of the one that was not used for the longest time:
    /// Python's SecretStorage opens a session for each item that it reads, and closes none.
    private static let sessionLimit = 256
    /// The longest secret in bytes.
    private static let secretLimit = 2 << 20
    /// The longest label in bytes.
    private static let labelLimit = 4 << 10

    /// - Parameter mailbox: Where signals to the program go.
    init(_ access: SecretAccess, _ hub: SecretHub, _ mailbox: Mailbox) {
        (self.access, self.hub, self.mailbox) = (access, hub, mailbox)
    }

    var deadline: ContinuousClock.Instant? { prompts.deadline }

    func due(now: ContinuousClock.Instant) -> [SentSignal] {
        prompts.complete(isLocked: hub.isLocked, now: now) { hub.gaveUp(access.name) }
    }

    /// Lets the program have signals from now on.
    func listen() throws(VaultError) {
        _ = try store()
        mailbox.open()
    }

    private func store() throws(VaultError) -> SecretStore {
        let session = try access.session()
        mailbox.setGroups(session.client.accessGroups)
        return SecretStore(session, hub.memory, asks: !hub.isOfSharedVault)
    }

    /// Answers a call whose request has passed its check.
    func answer(_ call: SecretCall, isLate: Bool = false) throws -> SecretAnswer {
        if call.interface == Introspection.introspectable {
            let nodes = (try? SecretNodes(access: access, hub: hub).names(under: call.path, in: store)) ?? []
            return SecretAnswer(values: [.string(Introspection.document(of: call.path, nodes: nodes))])
        }
        guard let named = SecretPath(call.path) else { throw SecretServiceError.noObject(call.path) }
        let path = try resolve(named)
        let interface = call.request.interface(at: named)
        if interface == Introspection.properties { return try properties(call, path) }
        guard interface == path.interface else { throw SecretServiceError.unknownMethod(call.request) }
        switch path {
        case .service: return try answerAsService(call)
        case .collection(let id): return try answerAsCollection(call, id)
        case .item(let collection, let id): return try answerAsItem(call, .item(collection: collection, id: id))
        case .session(let id):
            guard sessions.removeValue(forKey: id) != nil else { throw SecretServiceError.noObject(call.path) }
            sessionOrder.removeAll { $0 == id }
            return SecretAnswer()
        case .prompt(let id): return try answerAsPrompt(call, id)
        case .alias: throw SecretServiceError.noObject(call.path)
        }
    }

    /// Returns the path with the collection's own name.
    private func resolve(_ path: SecretPath) throws -> SecretPath {
        guard case .alias(let alias, let item) = path else { return path }
        guard let collection = try store().collection(alias: alias) else {
            throw SecretServiceError.noObject(path.text)
        }
        return item.map { .item(collection: collection, id: $0) } ?? .collection(collection)
    }

    // MARK: The service

    private func answerAsService(_ call: SecretCall) throws -> SecretAnswer {
        switch call.member {
        case "OpenSession": return SecretAnswer(values: try openSession(call))
        case "CreateCollection": return SecretAnswer(values: try createCollection(call))
        case "SearchItems":
            let found = try store().find(with: try Self.attributes(call.arguments.first))
            return SecretAnswer(values: [
                .array(of: "o", found.items.map(Self.path)), .array(of: "o", found.locked.map(Self.path(ofLocked:))),
            ])
        case "Unlock": return SecretAnswer(values: try unlock(call))
        case "Lock": return SecretAnswer(values: try lock(call))
        case "GetSecrets": return SecretAnswer(values: [try secrets(call)], isSecret: true)
        case "ReadAlias":
            let collection = try call.arguments.first?.string.flatMap { try store().collection(alias: $0) }
            return SecretAnswer(values: [
                .path(collection.map { SecretPath.collection($0).text } ?? SecretPath.none)
            ])
        case "SetAlias":
            guard call.arguments.count == 2, let alias = call.arguments[0].string, !alias.isEmpty,
                let target = call.arguments[1].string
            else { throw SecretServiceError.invalid("SetAlias takes a name and a collection") }
            try setAlias(alias, target)
            return SecretAnswer()
        default: throw SecretServiceError.unknownMethod(call.request)
        }
    }

    private func setAlias(_ alias: String, _ target: String) throws {
        guard target != SecretPath.none else { return try store().set(alias: alias, to: nil) }
        guard let path = SecretPath(target), case .collection(let id) = try resolve(path) else {
            throw SecretServiceError.noObject(target)
        }
        try store().set(alias: alias, to: try collection(id).id)
    }

    private func createCollection(_ call: SecretCall) throws -> [BusArgument] {
        let store = try store()
        let alias = call.arguments[1].string ?? ""
        // There is one collection for an alias.
        if !alias.isEmpty, let id = try store.collection(alias: alias) {
            return [.path(SecretPath.collection(id).text), .path(SecretPath.none)]
        }
        let label = call.arguments[0].entry("org.freedesktop.Secret.Collection.Label")?.string ?? ""
        let made = try store.store(collection: nil, label: try checked(label))
        if !alias.isEmpty { try store.set(alias: alias, to: made.id) }
        post(.service, "CollectionCreated", .collection(made.id), of: made.group)
        return [.path(SecretPath.collection(made.id).text), .path(SecretPath.none)]
    }

    // MARK: Locks

    /// Whether an object is one of those that the vault's lock locks.
    private func isLockable(_ path: String) throws -> Bool {
        switch try SecretPath(path).map(resolve) {
        case .collection(let id)?, .item(let id, _)?: id != SecretStore.sessionCollection
        default: false
        }
    }

    private func unlock(_ call: SecretCall) throws -> [BusArgument] {
        var (locked, unlocked): ([String], [String]) = ([], [])
        let isLocked = hub.isLocked
        for path in Self.paths(call.arguments.first) {
            if try isLocked && isLockable(path) { locked.append(path) } else { unlocked.append(path) }
        }
        guard !locked.isEmpty else { return [.array(of: "o", unlocked.map { .path($0) }), .path(SecretPath.none)] }
        guard let prompt = prompts.add(locked, "p\(hub.number())") else {
            throw SecretServiceError.limit("the paths have more than 64 KiB: unlock a collection instead")
        }
        return [.array(of: "o", unlocked.map { .path($0) }), .path(prompt)]
    }

    /// Locks the vault, as far as the program may: there is one lock for all collections.
    private func lock(_ call: SecretCall) throws -> [BusArgument] {
        let lockable = try Self.paths(call.arguments.first).filter(isLockable)
        do {
            if !lockable.isEmpty { try access.session().perform(LockVault(after: .zero)) }
        } catch {
            guard error == .passcodeNotSet else { throw error }
            // Nothing was locked, because nothing can be. libsecret's programs do not expect an error.
            return [.array(of: "o", []), .path(SecretPath.none)]
        }
        return [.array(of: "o", lockable.map { .path($0) }), .path(SecretPath.none)]
    }

    private func answerAsPrompt(_ call: SecretCall, _ id: String) throws -> SecretAnswer {
        let path = SecretPath.prompt(id).text
        switch call.member {
        case "Prompt":
            // Some programs ask for each secret again.
            let patience = hub.hasGivenUp(access.name) ? .zero : hub.patience
            guard prompts.start(path, until: .now + patience) else { throw SecretServiceError.noObject(path) }
            if hub.isLocked, patience > .zero { hub.waits(access.name) }
        case "Dismiss":
            guard prompts.dismiss(path, now: .now) else { throw SecretServiceError.noObject(path) }
        default: throw SecretServiceError.unknownMethod(call.request)
        }
        try listen()
        return SecretAnswer()
    }

    // MARK: Collections

    private func answerAsCollection(_ call: SecretCall, _ id: String) throws -> SecretAnswer {
        switch call.member {
        case "SearchItems":
            let id = try collection(id).id
            let found = try store().find(in: id, with: try Self.attributes(call.arguments.first))
            return SecretAnswer(values: [.array(of: "o", Self.paths(found))])
        case "CreateItem": return SecretAnswer(values: try createItem(call, try collection(id)))
        case "Delete":
            let collection = try collection(id)
            guard ![SecretStore.defaultCollection, SecretStore.sessionCollection].contains(collection.id) else {
                throw SecretServiceError.notSupported("the collections login and session cannot be deleted")
            }
            try store().delete(collection)
            post(.service, "CollectionDeleted", .collection(collection.id), of: collection.group)
            return SecretAnswer(values: [.path(SecretPath.none)])
        default: throw SecretServiceError.unknownMethod(call.request)
        }
    }

    private func collection(_ id: String) throws -> SecretStore.Collection {
        guard let found = try store().collection(id) else {
            throw SecretServiceError.noObject(SecretPath.collection(id).text)
        }
        return found
    }

    private func createItem(_ call: SecretCall, _ collection: SecretStore.Collection) throws -> [BusArgument] {
        let properties = call.arguments[0]
        let secret = try secret(call.arguments[1])
        let label = properties.entry("org.freedesktop.Secret.Item.Label")?.string ?? ""
        let attributes = try Self.attributes(properties.entry("org.freedesktop.Secret.Item.Attributes"))
        let made = try store().store(
            secret.value, in: collection.id, label: try checked(label), attributes: attributes,
            contentType: secret.contentType, replacing: call.arguments[2].boolean ?? false)
        tell(made.isNew ? "ItemCreated" : "ItemChanged", made.item)
        return [Self.path(made.item), .path(SecretPath.none)]
    }

    // MARK: Items

    private func answerAsItem(_ call: SecretCall, _ path: SecretPath) throws -> SecretAnswer {
        switch call.member {
        case "GetSecret":
            let session = try session(call.arguments.first)
            return SecretAnswer(
                values: [try secret(of: try item(path, includingSecret: true), session)], isSecret: true)
        case "SetSecret":
            let item = try item(path)
            let secret = try secret(call.arguments.first)
            try store().change(
                item, ItemChanges(attributes: [.itemDescription: .string(secret.contentType)], value: secret.value))
            tell("ItemChanged", item)
            return SecretAnswer()
        case "Delete":
            let item = try item(path)
            try store().delete(item)
            tell("ItemDeleted", item)
            return SecretAnswer(values: [.path(SecretPath.none)])
        default: throw SecretServiceError.unknownMethod(call.request)
        }
    }

    private func item(_ path: SecretPath, includingSecret: Bool = false) throws -> SecretStore.Item {
        guard case .item(let collection, let id) = path,
            let found = try store().items(in: collection, id: id, includingSecrets: includingSecret).first
        else { throw SecretServiceError.noObject(path.text) }
        return found
    }

    private static func path(_ item: SecretStore.Item) -> BusArgument {
        .path(SecretPath.item(collection: item.collection, id: item.id).text)
    }

    /// Nothing but the name is known of a locked item, so its collection is not.
    private static func path(ofLocked name: String) -> BusArgument {
        .path(SecretPath.item(collection: SecretStore.defaultCollection, id: name).text)
    }

    private static func paths(_ found: SecretStore.Found) -> [BusArgument] {
        found.items.map(path) + found.locked.map(path(ofLocked:))
    }

    private static func paths(_ value: BusValue?) -> [String] { (value?.elements ?? []).compactMap(\.string) }

    private func tell(_ member: String, _ item: SecretStore.Item) {
        let collection = SecretPath.collection(item.collection)
        let path = SecretPath.item(collection: item.collection, id: item.id)
        post(collection, member, path, of: item.group)
        let isChange = member == "ItemChanged"
        hub.post(
            .changed(isChange ? path : collection, read: isChange ? ["Attributes", "Label", "Modified"] : ["Items"]),
            of: item.group)
    }

    private func post(_ source: SecretPath, _ member: String, _ object: SecretPath, of group: String) {
        hub.post(
            SentSignal(path: source.text, interface: source.interface, member: member, values: [.path(object.text)]),
            of: group)
    }

    // MARK: Sessions and secrets

    private func openSession(_ call: SecretCall) throws -> [BusArgument] {
        let made: (session: SecretSession, answer: BusArgument)
        switch call.arguments.first?.string {
        case SecretSession.plainName?: made = (.plain, .string(""))
        case SecretSession.encryptedName?:
            guard case .bytes(let publicKey)? = call.arguments.last?.content else {
                throw SecretServiceError.invalid("the input of \(SecretSession.encryptedName) is a public key")
            }
            let agreed = try SecretSession.agree(with: publicKey)
            made = (agreed.0, .bytes(agreed.1))
        default:
            throw SecretServiceError.notSupported(
                "the algorithms are \(SecretSession.plainName) and \(SecretSession.encryptedName)")
        }
        if sessions.count >= Self.sessionLimit { sessions[sessionOrder.removeFirst()] = nil }
        let id = "s\(hub.number())"
        sessions[id] = made.session
        sessionOrder.append(id)
        return [.variant(made.answer), .path(SecretPath.session(id).text)]
    }

    private func session(_ value: BusValue?) throws -> (path: String, session: SecretSession) {
        guard let text = value?.string, case .session(let id)? = SecretPath(text), let session = sessions[id] else {
            throw SecretServiceError.noSession
        }
        sessionOrder.removeAll { $0 == id }
        sessionOrder.append(id)
        return (text, session)
    }

    private func secret(
        of item: SecretStore.Item, _ session: (path: String, session: SecretSession)
    ) throws -> BusArgument {
        guard let value = item.stored.value else {
            throw SecretServiceError.noObject(SecretPath.item(collection: item.collection, id: item.id).text)
        }
        let type = item.contentType.isEmpty ? "text/plain" : item.contentType
        let closed = try session.session.close(value)
        return .structure([.path(session.path), .bytes(closed.parameters), .bytes(closed.bytes), .string(type)])
    }

    private func secrets(_ call: SecretCall) throws -> BusArgument {
        let session = try session(call.arguments[1])
        var found: [BusArgument] = []
        var bytes = 0
        var seen: Set<String> = []
        for text in Self.paths(call.arguments[0]) where seen.insert(text).inserted {
            guard let path = SecretPath(text), let item = try itemIfReadable(path) else { continue }
            let secret = try secret(of: item, session)
            if case .structure(let parts) = secret, case .bytes(let value) = parts[2] { bytes += value.count }
            guard bytes <= Self.secretLimit * 4 else {
                throw SecretServiceError.limit("the secrets are more than 8 MiB: ask for fewer at a time")
            }
            found.append(.entry(.path(text), secret))
        }
        return .array(of: "{o(oayays)}", found)
    }

    /// Returns an item with its secret; nil if it is locked, gone, expired or damaged.
    private func itemIfReadable(_ path: SecretPath) throws -> SecretStore.Item? {
        do {
            return try item(try resolve(path), includingSecret: true)
        } catch is SecretServiceError {
            return nil
        } catch let error as VaultError {
            switch error {
            case .interactionNotAllowed, .itemExpired, .itemNotFound, .corruptItem: return nil
            default: throw error
            }
        }
    }

    private func secret(_ value: BusValue?) throws -> (value: Data, contentType: String) {
        guard let parts = value?.elements, parts.count == 4, case .bytes(let parameters) = parts[1],
            case .bytes(let bytes) = parts[2]
        else { throw SecretServiceError.invalid("a secret has a session, parameters, a value and a type") }
        let opened = try session(parts[0]).session.open(parameters, bytes)
        guard opened.count <= Self.secretLimit else { throw SecretServiceError.limit("a secret has up to 2 MiB") }
        let type = parts[3].string ?? ""
        guard type.utf8.count <= 255 else { throw SecretServiceError.limit("a content type has up to 255 bytes") }
        return (opened, type)
    }

    private func checked(_ label: String) throws -> String {
        guard label.utf8.count <= Self.labelLimit else { throw SecretServiceError.limit("a label has up to 4 KiB") }
        return label
    }

    static func attributes(_ value: BusValue?) throws -> CustomAttributes {
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

    private func properties(_ call: SecretCall, _ path: SecretPath) throws -> SecretAnswer {
        let interface = call.arguments.first?.string ?? ""
        guard interface.isEmpty || interface == path.interface else {
            throw SecretServiceError(
                name: "org.freedesktop.DBus.Error.UnknownInterface", message: "\(call.path) has no \(interface)")
        }
        switch call.member {
        case "GetAll":
            let all = try values(of: path).sorted { $0.key < $1.key }
            return SecretAnswer(values: [
                .array(of: "{sv}", try all.map { BusArgument.entry(.string($0.key), .variant(try $0.value())) })
            ])
        case "Get":
            let name = call.arguments.last?.string ?? ""
            guard let value = try values(of: path)[name]?() else {
                throw SecretServiceError(
                    name: "org.freedesktop.DBus.Error.UnknownProperty",
                    message: "there is no property \(name) of \(interface)")
            }
            return SecretAnswer(values: [.variant(value)])
        case "Set":
            try set(path, call.arguments[1].string ?? "", call.arguments[2].content)
            return SecretAnswer()
        default: throw SecretServiceError.unknownMethod(call.request)
        }
    }

    /// Returns the properties of an object. Each is made when it is asked for: a program that asks whether a collection
    /// is locked must not wait for the list of its items.
    private func values(of path: SecretPath) throws -> [String: () throws -> BusArgument] {
        func seconds(_ date: Date?) -> BusArgument {
            .unsigned64(UInt64(clamping: max(0, date?.timeIntervalSince1970 ?? 0)))
        }
        switch path {
        case .service:
            return [
                "Collections": { [self] in
                    let collections = try store().collections()
                    for collection in collections { hub.remember(collection.id, of: collection.group) }
                    return .array(of: "o", collections.map { .path(SecretPath.collection($0.id).text) })
                }
            ]
        case .collection(let id):
            let collection = try collection(id)
            hub.remember(collection.id, of: collection.group)
            let isLocked = hub.isLocked && id != SecretStore.sessionCollection
            return [
                "Items": { [self] in .array(of: "o", Self.paths(try store().find(in: collection.id))) },
                "Label": { .string(collection.label) }, "Locked": { .boolean(isLocked) },
                "Created": { seconds(collection.stored?.creationDate) },
                "Modified": { seconds(collection.stored?.modificationDate) },
            ]
        case .item(let collection, let id):
            let found = try store().find(in: collection, id: id)
            if !found.locked.isEmpty {
                return [
                    "Attributes": { .array(of: "{ss}", []) }, "Label": { .string("") }, "Locked": { .boolean(true) },
                    "Type": { .string("") }, "Created": { .unsigned64(0) }, "Modified": { .unsigned64(0) },
                ]
            }
            guard let item = found.items.first else { throw SecretServiceError.noObject(path.text) }
            let attributes = item.attributes.sorted { $0.key < $1.key }
            return [
                "Attributes": {
                    .array(of: "{ss}", attributes.map { BusArgument.entry(.string($0.key), .string($0.value)) })
                },
                "Label": { .string(item.label) }, "Locked": { .boolean(false) },
                "Type": { .string(item.attributes["xdg:schema"] ?? "") },
                "Created": { seconds(item.stored.creationDate) },
                "Modified": { seconds(item.stored.modificationDate) },
            ]
        case .session, .prompt, .alias: return [:]
        }
    }

    private func set(_ path: SecretPath, _ name: String, _ value: BusValue?) throws {
        switch (path, name, value) {
        case (.collection(let id), "Label", .string(let label)?):
            guard id != SecretStore.sessionCollection else {
                throw SecretServiceError.notSupported("the collection session keeps its label")
            }
            let collection = try store().store(collection: try collection(id), label: try checked(label))
            post(.service, "CollectionChanged", .collection(collection.id), of: collection.group)
        case (.item, "Label", .string(let label)?):
            let item = try item(path)
            try store().change(item, ItemChanges(attributes: [.label: .string(try checked(label))]))
            tell("ItemChanged", item)
        case (.item, "Attributes", .array?):
            let item = try item(path)
            var changes = ItemChanges()
            changes.customAttributes = try Self.attributes(value)
            try store().change(item, changes)
            tell("ItemChanged", item)
        default:
            throw SecretServiceError(
                name: "org.freedesktop.DBus.Error.PropertyReadOnly", message: "\(name) cannot be set")
        }
    }
}
