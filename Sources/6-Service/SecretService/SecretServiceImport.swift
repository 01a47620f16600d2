import Access
import Bytes
import FoundationEssentials
import KeychainModel
import SystemBus
import VaultInterface

/// Reads another program's Secret Service on a bus, as any client does, and stores its collections and items.
///
/// Nothing changes there. What is in memory there (the collection `session`) is left alone.
package struct SecretServiceImport {
    /// What became of the items of one collection.
    package struct Outcome: Sendable {
        /// The collection's.
        package var label: String
        /// How many items it has there.
        package var items = 0
        /// How many of them were stored, or replaced another secret.
        package var stored = 0
        /// Items that were there already, with the same secret.
        package var same = 0
        /// The labels of items that were there with another secret, and stayed.
        package var different: [String] = []
        /// Why items were left out, by their labels.
        package var problems: [String] = []
        /// Nobody unlocked the collection.
        package var isLocked = false
    }

    private let bus: BusConnection
    private let session: String
    private static let root = "/org/freedesktop/secrets"

    /// - Parameter address: The bus, in D-Bus's notation.
    /// - Throws: ``BusError``.
    package init(_ address: String) throws(BusError) {
        bus = try BusConnection(.at(address))
        let opened = try bus.call(
            Self.target(Self.root, "Service"), "OpenSession", [.string("plain"), .variant(.string(""))],
            timeout: .seconds(30))
        guard let path = opened.last?.string else { throw .unexpectedAnswer(member: "OpenSession") }
        session = path
    }

    private static func target(_ path: String, _ interface: String) -> BusTarget {
        BusTarget(service: BusNames.secrets, path: path, interface: "org.freedesktop.Secret.\(interface)")
    }

    private func properties(_ path: String, _ interface: String) throws(BusError) -> BusValue {
        let answer = try bus.call(
            BusTarget(service: BusNames.secrets, path: path, interface: "org.freedesktop.DBus.Properties"), "GetAll",
            [.string("org.freedesktop.Secret.\(interface)")], timeout: .seconds(60))
        guard let values = answer.first else { throw .unexpectedAnswer(member: "GetAll") }
        return values
    }

    /// Stores what is there, and reads it again.
    ///
    /// - Parameters:
    ///   - session: The vault's. Items go to the access group ``SecretGuests/sharedGroup``.
    ///   - patience: How long somebody has to unlock a collection there.
    ///   - replaces: Whether the secret of the other program takes the place of a different one.
    ///   - progress: Told of the items that are done, and of all of the collection.
    package func run(
        into session: VaultSession, patience: Duration, replaces: Bool, progress: (Int, Int) -> Void
    ) throws -> [Outcome] {
        var session = session
        session.client.accessGroups = [SecretGuests.sharedGroup]
        (session.client.preferredGroup, session.client.listableGroups) = (nil, nil)
        let store = SecretStore(session, SessionItems(), asks: true)
        let main = try bus.call(Self.target(Self.root, "Service"), "ReadAlias", [.string("default")]).first?.string
        let paths = try properties(Self.root, "Service").entry("Collections")?.elements ?? []
        var outcomes: [Outcome] = []
        for path in paths.compactMap(\.string) where !path.hasSuffix("/session") {
            outcomes.append(
                try take(path, isDefault: path == main, into: store, patience, replaces, progress))
        }
        return outcomes
    }

    private func take(
        _ path: String, isDefault: Bool, into store: SecretStore, _ patience: Duration, _ replaces: Bool,
        _ progress: (Int, Int) -> Void
    ) throws -> Outcome {
        var values = try properties(path, "Collection")
        var outcome = Outcome(label: values.entry("Label")?.string ?? "")
        if values.entry("Locked")?.boolean ?? false {
            guard try unlock(path, patience) else {
                outcome.isLocked = true
                return outcome
            }
            values = try properties(path, "Collection")
        }
        let items = (values.entry("Items")?.elements ?? []).compactMap(\.string)
        outcome.items = items.count
        let collection = try collection(outcome.label, isDefault: isDefault, in: store)
        // Two items there may have the same attributes.
        var made: Set<String> = []
        for (index, item) in items.enumerated() {
            progress(index, items.count)
            do {
                try take(item, into: collection, store, replaces, &made, &outcome)
            } catch let error as BusError {
                outcome.problems.append("\(item): \(error)")
            } catch let error as SecretServiceError {
                outcome.problems.append("\(item): \(error.message)")
            } catch let error as VaultError where error.isOfOneItem {
                outcome.problems.append("\(item): \(error)")
            }
        }
        progress(items.count, items.count)
        return outcome
    }

    private func collection(_ label: String, isDefault: Bool, in store: SecretStore) throws -> String {
        if isDefault { return SecretStore.defaultCollection }
        if let found = try store.collections().first(where: { $0.label == label && $0.stored != nil }) {
            return found.id
        }
        return try store.store(collection: nil, label: label).id
    }

    private func take(
        _ path: String, into collection: String, _ store: SecretStore, _ replaces: Bool, _ made: inout Set<String>,
        _ outcome: inout Outcome
    ) throws {
        let values = try properties(path, "Item")
        let answer = try bus.call(
            Self.target(path, "Item"), "GetSecret", [.path(session)], timeout: .seconds(30))
        guard let parts = answer.first?.elements, parts.count == 4, case .bytes(let bytes) = parts[2] else {
            throw BusError.unexpectedAnswer(member: "GetSecret")
        }
        let secret = bytes
        let label = values.entry("Label")?.string ?? ""
        let attributes = try CustomAttributes(values.entry("Attributes")).checked()
        let key = Self.key(attributes)
        let here = try store.items(in: collection, with: key, includingSecrets: true)
            .filter { Self.key($0.attributes) == key }
        if let same = here.first(where: { $0.stored.value == secret && !made.contains($0.id) }) {
            made.insert(same.id)
            outcome.same += 1
            return
        }
        let contentType = parts[3].string ?? ""
        if let other = here.first(where: { !made.contains($0.id) }) {
            guard replaces else {
                made.insert(other.id)
                outcome.different.append(label)
                return
            }
            var changes = ItemChanges(
                attributes: [.label: .string(label), .itemDescription: .string(contentType)], value: secret)
            changes.customAttributes = attributes
            try store.change(other, changes)
            made.insert(other.id)
            return try compare(path, other.id, in: collection, store, secret, attributes, label, &outcome)
        }
        let stored = try store.store(
            secret, in: collection, label: label, attributes: attributes, contentType: contentType, replacing: false)
        made.insert(stored.item.id)
        try compare(path, stored.item.id, in: collection, store, secret, attributes, label, &outcome)
    }

    private func compare(
        _ path: String, _ id: String, in collection: String, _ store: SecretStore, _ secret: Data,
        _ attributes: CustomAttributes, _ label: String, _ outcome: inout Outcome
    ) throws {
        let read = try store.items(in: collection, id: id, includingSecrets: true).first
        guard let read, read.stored.value == secret, read.attributes == attributes, read.label == label else {
            outcome.problems.append("\(path): what was stored is not what was read")
            return
        }
        outcome.stored += 1
    }

    /// What tells items apart. gnome-keyring gives an item without a schema the one that stands for none when it reads
    /// its file again.
    private static func key(_ attributes: CustomAttributes) -> CustomAttributes {
        attributes.filter { $0.key != "xdg:schema" || $0.value != "org.freedesktop.Secret.Generic" }
    }

    /// Asks the other program to unlock a collection, which asks a person.
    private func unlock(_ path: String, _ patience: Duration) throws(BusError) -> Bool {
        let answer = try bus.call(
            Self.target(Self.root, "Service"), "Unlock", [.array(of: "o", [.path(path)])], timeout: .seconds(30))
        guard let prompt = answer.last?.string else { throw .unexpectedAnswer(member: "Unlock") }
        guard prompt != SecretPath.none else { return true }
        try bus.listen("type='signal',interface='org.freedesktop.Secret.Prompt',member='Completed'")
        try bus.call(Self.target(prompt, "Prompt"), "Prompt", [.string("")], timeout: .seconds(30))
        let end = ContinuousClock.now + patience
        while let signal = try bus.nextSignal(from: BusNames.secrets, until: end) {
            guard signal.path == prompt, signal.member == "Completed" else { continue }
            return signal.values.first?.boolean == false
        }
        return false
    }
}

extension VaultError {
    /// Whether the error says something about an item, and others can go on.
    fileprivate var isOfOneItem: Bool {
        switch self {
        case .itemExpired, .itemNotFound, .corruptItem, .duplicateItem, .invalidRequest, .valueTooLarge,
            .attributesTooLarge:
            true
        default: false
        }
    }
}
