import KeychainModel
import SystemBus
import VaultInterface

/// Opens a session, in which secrets go between the program and the service.
struct OpenSession: SecretMethod {
    static let declaration = MethodDeclaration(
        .service, "OpenSession", ["algorithm": "s", "input": "v"], out: ["output": "v", "result": "o"])
    let algorithm: String
    let input: BusValue

    init(_ arguments: inout SecretArguments) throws {
        (algorithm, input) = (try arguments.text(), try arguments.content())
    }

    func answer(in client: SecretClient, at path: SecretPath) throws -> [BusArgument] {
        let (session, output): (SecretSession, BusArgument)
        switch algorithm {
        case SecretSession.plainName: (session, output) = (.plain, .string(""))
        case SecretSession.encryptedName:
            guard case .bytes(let publicKey) = input else {
                throw SecretServiceError.invalid("the input of \(SecretSession.encryptedName) is a public key")
            }
            let agreed = try SecretSession.agree(with: publicKey)
            (session, output) = (agreed.0, .bytes(agreed.1))
        default:
            throw SecretServiceError.notSupported(
                "the algorithms are \(SecretSession.plainName) and \(SecretSession.encryptedName)")
        }
        let id = "s\(client.hub.number())"
        client.sessions.add(session, id)
        return [.variant(output), .object(.session(id))]
    }
}

/// Makes a collection, unless there is one with the alias.
struct CreateCollection: SecretMethod {
    static let declaration = MethodDeclaration(
        .service, "CreateCollection", ["properties": "a{sv}", "alias": "s"], out: ["collection": "o", "prompt": "o"])
    let label: String
    let alias: String

    init(_ arguments: inout SecretArguments) throws {
        label = try arguments.dictionary().entry("org.freedesktop.Secret.Collection.Label")?.string ?? ""
        alias = try arguments.text()
    }

    func answer(in client: SecretClient, at path: SecretPath) throws -> [BusArgument] {
        let store = try client.store()
        // There is one collection for an alias.
        if !alias.isEmpty, let id = try store.collection(alias: alias) { return [.object(.collection(id)), .noPrompt] }
        let made = try store.store(collection: nil, label: try SecretClient.checked(label))
        if !alias.isEmpty { try store.set(alias: alias, to: made.id) }
        client.post("CollectionCreated", of: .service, .collection(made.id), in: made.group)
        return [.object(.collection(made.id)), .noPrompt]
    }
}

/// Finds items of all collections.
struct SearchService: SecretMethod {
    static let declaration = MethodDeclaration(
        .service, "SearchItems", ["attributes": "a{ss}"], out: ["unlocked": "ao", "locked": "ao"])
    let attributes: CustomAttributes

    init(_ arguments: inout SecretArguments) throws { attributes = try arguments.attributes() }

    func answer(in client: SecretClient, at path: SecretPath) throws -> [BusArgument] {
        let found = try client.store().find(with: attributes.checked())
        return [.objects(found.items.map(\.path)), .objects(found.lockedPaths)]
    }
}

/// Makes a prompt for what is locked.
struct UnlockObjects: SecretMethod {
    static let declaration = MethodDeclaration(
        .service, "Unlock", ["objects": "ao"], out: ["unlocked": "ao", "prompt": "o"])
    let objects: [String]

    init(_ arguments: inout SecretArguments) throws { objects = try arguments.paths() }

    func answer(in client: SecretClient, at path: SecretPath) throws -> [BusArgument] {
        var (locked, unlocked): ([String], [String]) = ([], [])
        let isLocked = client.hub.isLocked
        for object in objects {
            if try isLocked && client.isLockable(object) { locked.append(object) } else { unlocked.append(object) }
        }
        let answered = BusArgument.array(of: "o", unlocked.map { .path($0) })
        guard !locked.isEmpty else { return [answered, .noPrompt] }
        guard let prompt = client.prompts.add(locked, "p\(client.hub.number())") else {
            throw SecretServiceError.limit("the paths have more than 64 KiB: unlock a collection instead")
        }
        return [answered, .path(prompt)]
    }
}

/// Locks the vault, as far as the program may: there is one lock for all collections.
struct LockObjects: SecretMethod {
    static let declaration = MethodDeclaration(
        .service, "Lock", ["objects": "ao"], out: ["locked": "ao", "prompt": "o"])
    let objects: [String]

    init(_ arguments: inout SecretArguments) throws { objects = try arguments.paths() }

    func answer(in client: SecretClient, at path: SecretPath) throws -> [BusArgument] {
        let lockable = try objects.filter(client.isLockable)
        do {
            if !lockable.isEmpty { try client.access.session().perform(LockVault(after: .zero)) }
        } catch {
            guard error == .passcodeNotSet else { throw error }
            // Nothing was locked, because nothing can be. libsecret's programs do not expect an error.
            return [.objects([]), .noPrompt]
        }
        return [.array(of: "o", lockable.map { .path($0) }), .noPrompt]
    }
}

/// Returns the secrets of items, and leaves out those that cannot be read.
struct GetSecrets: SecretMethod {
    static let declaration = MethodDeclaration(
        .service, "GetSecrets", ["items": "ao", "session": "o"], out: ["secrets": "a{o\(TransferredSecret.type)}"])
    let items: [String]
    let session: String

    init(_ arguments: inout SecretArguments) throws { (items, session) = (try arguments.paths(), try arguments.text()) }

    func answer(in client: SecretClient, at path: SecretPath) throws -> [BusArgument] {
        let opened = try client.sessions.session(at: session)
        var found: [BusArgument] = []
        var bytes = 0
        var seen: Set<String> = []
        for text in items where seen.insert(text).inserted {
            guard let path = SecretPath(text), let item = try Self.readable(path, in: client) else { continue }
            let secret = try TransferredSecret(of: item, in: opened, at: session)
            bytes += secret.value.count
            guard bytes <= TransferredSecret.limit * 4 else {
                throw SecretServiceError.limit("the secrets are more than 8 MiB: ask for fewer at a time")
            }
            found.append(.entry(.path(text), secret.argument))
        }
        return [.array(of: "{o\(TransferredSecret.type)}", found)]
    }

    /// Returns an item with its secret; nil if it is locked, gone, expired or damaged.
    private static func readable(_ path: SecretPath, in client: SecretClient) throws -> SecretStore.Item? {
        do {
            return try client.item(at: try client.resolve(path), includingSecret: true)
        } catch is SecretServiceError {
            return nil
        } catch let error as VaultError {
            switch error {
            case .interactionNotAllowed, .itemExpired, .itemNotFound, .corruptItem: return nil
            default: throw error
            }
        }
    }
}

/// Returns the collection that has an alias.
struct ReadAlias: SecretMethod {
    static let declaration = MethodDeclaration(.service, "ReadAlias", ["name": "s"], out: ["collection": "o"])
    let name: String

    init(_ arguments: inout SecretArguments) throws { name = try arguments.text() }

    func answer(in client: SecretClient, at path: SecretPath) throws -> [BusArgument] {
        let collection = try client.store().collection(alias: name)
        return [.path(collection.map { SecretPath.collection($0).text } ?? SecretPath.none)]
    }
}

/// Gives an alias to a collection, or removes it.
struct SetAlias: SecretMethod {
    static let declaration = MethodDeclaration(.service, "SetAlias", ["name": "s", "collection": "o"])
    let name: String
    let collection: String

    init(_ arguments: inout SecretArguments) throws {
        (name, collection) = (try arguments.text(), try arguments.text())
    }

    func answer(in client: SecretClient, at path: SecretPath) throws -> [BusArgument] {
        guard !name.isEmpty else { throw SecretServiceError.invalid("SetAlias takes a name and a collection") }
        guard collection != SecretPath.none else {
            try client.store().set(alias: name, to: nil)
            return []
        }
        guard let path = try SecretPath(collection).map(client.resolve), case .collection = path else {
            throw SecretServiceError.noObject(collection)
        }
        try client.store().set(alias: name, to: try client.collection(at: path).id)
        return []
    }
}
