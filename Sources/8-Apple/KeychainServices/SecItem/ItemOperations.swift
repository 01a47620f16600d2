import Access
import Foundation
import KeychainModel
import VaultInterface
import VaultKeys

/// The four SecItem functions on the vault of the running task.
enum ItemOperations {
    static func add(_ dictionary: NSDictionary) throws(SecItemFailure) -> ItemResult {
        let session = try onVault { try VaultSession.current() }
        let request = try parsed(for: session.client) { try AddRequest(dictionary) }
        try use(request.context, in: session)
        let authentication =
            switch request.subject {
            case .item(let item): item.authentication
            case .identity(_, let key): key.authentication
            }
        let shape = ResultShape(
            returns: request.returns,
            use: KeyUse(authentication: authentication, context: request.context?._keychainState))
        switch request.subject {
        case .item(let item):
            var stored = try onVault { try session.perform(AddItem(item)) }
            // The vault does not send back the value that it was given.
            stored.value = item.value ?? stored.value
            return shape.ofAdd(stored)
        case .identity(let certificate, let key):
            return try addIdentity(certificate, key, shape, session)
        }
    }

    static func copy(_ dictionary: NSDictionary) throws(SecItemFailure) -> ItemResult {
        let session = try onVault { try VaultSession.current() }
        let request = try parsed(for: session.client) { try CopyRequest(dictionary) }
        if let incompatibility = request.incompatibility {
            try requireGroup(request.query.accessGroup, of: session.client)
            throw incompatibility
        }
        try use(request.context, in: session)
        let items = try onVault {
            try session.perform(CopyItems(request.query, includingValues: request.needsValues))
        }
        if request.needsTrust { throw .unimplemented }
        let use = KeyUse(
            authentication: request.query.authentication, context: request.context?._keychainState)
        return ResultShape(returns: request.returns, use: use).ofCopy(items, asArray: request.wantsArray)
    }

    static func update(_ dictionary: NSDictionary, with changes: NSDictionary) throws(SecItemFailure) {
        let session = try onVault { try VaultSession.current() }
        let request = try parsed(for: session.client, groupOf: dictionary) {
            try UpdateRequest(dictionary, changes: changes)
        }
        try use(request.context, in: session)
        _ = try onVault {
            try session.perform(UpdateItems(request.query, with: request.changes))
        }
    }

    static func delete(_ dictionary: NSDictionary) throws(SecItemFailure) {
        let session = try onVault { try VaultSession.current() }
        let request = try parsed(for: session.client, groupOf: dictionary) {
            try DeleteRequest(dictionary)
        }
        try use(request.context, in: session)
        _ = try onVault { try session.perform(DeleteItems(request.query)) }
    }

    /// Stores both halves of an identity; one of them may exist already, such as a certificate renewed for
    /// the same key.
    private static func addIdentity(
        _ certificate: NewItem, _ key: NewItem, _ shape: ResultShape, _ session: VaultSession
    ) throws(SecItemFailure) -> ItemResult {
        _ = try onVault {
            try session.perform(AddIdentity(certificate: certificate, key: key))
        }
        if shape.returns.isEmpty { return .untouched }
        let schema = ItemClass.certificate.schema
        let query = ItemQuery(
            itemClass: .identity, attributes: certificate.attributes.filter { schema[$0.key]?.isPrimaryKey == true },
            accessGroup: certificate.accessGroup,
            synchronizable: certificate.isSynchronizable ? .synchronizableOnly : .localOnly, limit: 1,
            authentication: key.authentication)
        let found = try onVault {
            try session.perform(CopyItems(query, includingValues: true))
        }
        return found.first.map(shape.ofAdd) ?? .untouched
    }

    // MARK: Order of checks

    /// Parses the dictionary. Reports a missing entitlement before a malformed dictionary: a client without groups may
    /// do nothing, and update and delete check a named group before anything else.
    private static func parsed<Request>(
        for client: Client, groupOf dictionary: NSDictionary? = nil, _ parse: () throws -> Request
    ) throws(SecItemFailure) -> Request {
        do {
            return try onVault(parse)
        } catch {
            try requireGroup(nil, of: client)
            if let named = dictionary?[kSecAttrAccessGroup] {
                guard let group = named as? String else { throw .missingEntitlement }
                try requireGroup(group, of: client)
            }
            throw error
        }
    }

    /// Tells an authentication context where it is used. One that was invalidated is refused before anything
    /// is looked for.
    private static func use(
        _ context: (any _SecAuthenticationContext)?, in session: VaultSession
    ) throws(SecItemFailure) {
        guard let context, !context._keychainState.use(in: session) else { return }
        throw SecItemFailure(VaultError.presence(.invalidContext))
    }

    private static func requireGroup(_ group: String?, of client: Client) throws(SecItemFailure) {
        do {
            _ = try AccessPolicy.scope(of: .init(.copy, accessGroup: group), for: client)
        } catch {
            throw .missingEntitlement
        }
    }
}
