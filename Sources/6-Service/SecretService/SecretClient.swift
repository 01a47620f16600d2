import Access
import Bytes
import KeychainModel
import SystemBus
import VaultInterface

/// The Secret Service (https://specifications.freedesktop.org/secret-service, 0.2) for one program.
///
/// Each method is a type in the folder `Methods`, and ``SecretMethods`` lists them.
final class SecretClient: BusClient {
    let access: SecretAccess
    let hub: SecretHub
    let mailbox: Mailbox
    var sessions = SecretSessions()
    var prompts = SecretPrompts()
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

    /// Returns what the program may do with the vault now.
    func store() throws(VaultError) -> SecretStore {
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
        let found = try SecretMethods.method(of: call.request)
        guard let path = try SecretPath(call.path).map(resolve) else { throw SecretServiceError.noObject(call.path) }
        guard [path.interface, .properties].contains(found.declaration.interface) else {
            throw SecretServiceError.unknownMethod(call.request)
        }
        var arguments = SecretArguments(call.arguments)
        let method = try found.init(&arguments)
        if let interface = (method as? any PropertyMethod)?.interface, !interface.isEmpty,
            interface != path.interface.rawValue
        {
            throw SecretServiceError(
                name: "org.freedesktop.DBus.Error.UnknownInterface", message: "\(call.path) has no \(interface)")
        }
        return SecretAnswer(values: try method.answer(in: self, at: path), isSecret: found.declaration.isSecret)
    }

    // MARK: Objects

    /// Returns the path with the collection's own name.
    func resolve(_ path: SecretPath) throws -> SecretPath {
        guard case .alias(let alias, let item) = path else { return path }
        guard let collection = try store().collection(alias: alias) else {
            throw SecretServiceError.noObject(path.text)
        }
        return item.map { .item(collection: collection, id: $0) } ?? .collection(collection)
    }

    func collection(at path: SecretPath) throws -> SecretStore.Collection {
        guard case .collection(let id) = path, let found = try store().collection(id) else {
            throw SecretServiceError.noObject(path.text)
        }
        return found
    }

    func item(at path: SecretPath, includingSecret: Bool = false) throws -> SecretStore.Item {
        guard case .item(let collection, let id) = path,
            let found = try store().items(in: collection, id: id, includingSecrets: includingSecret).first
        else { throw SecretServiceError.noObject(path.text) }
        return found
    }

    /// Whether an object is one of those that the vault's lock locks.
    func isLockable(_ path: String) throws -> Bool {
        switch try SecretPath(path).map(resolve) {
        case .collection(let id)?, .item(let id, _)?: id != SecretStore.sessionCollection
        default: false
        }
    }

    static func checked(_ label: String) throws(SecretServiceError) -> String {
        guard label.utf8.count <= labelLimit else { throw .limit("a label has up to 4 KiB") }
        return label
    }

    // MARK: Signals

    /// Tells the programs that may list `group` what became of `object`.
    func post(_ member: String, of source: SecretPath, _ object: SecretPath, in group: String) {
        hub.post(SentSignal(member, of: source, [.object(object)]), of: group)
    }

    /// Tells other programs what became of an item.
    func tell(_ member: String, _ item: SecretStore.Item) {
        let collection = SecretPath.collection(item.collection)
        post(member, of: collection, item.path, in: item.group)
        let isChange = member == "ItemChanged"
        hub.post(
            .changed(
                isChange ? item.path : collection, read: isChange ? ["Attributes", "Label", "Modified"] : ["Items"]),
            of: item.group)
    }
}
