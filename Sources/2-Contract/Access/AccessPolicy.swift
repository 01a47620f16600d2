/// Which access groups an operation may touch.
package enum GroupScope: Sendable, Hashable {
    case every
    case only([String])

    package func contains(_ group: String) -> Bool {
        switch self {
        case .every: true
        case .only(let groups): groups.contains { $0.isSameGroup(as: group) }
        }
    }
}

/// Why a client may not do something.
package enum AccessDenied: Error, Equatable, CustomStringConvertible {
    /// The client holds no group at all.
    case noAccessGroups(client: String)
    case groupNotHeld(group: String, client: String)
    /// The group of hardware tokens cannot be written.
    case tokenGroupIsReadOnly
    /// The client may use its groups, and not do this.
    case rightNotHeld(right: String, client: String)
    /// The server could not identify the caller, or does not admit it to this vault.
    case unknownCaller(reason: String)

    package var description: String {
        switch self {
        case .noAccessGroups(let client):
            "\(client) holds no access group: a daemon grants one by a rule in its entitlements file, also where "
                + "KEYCHAIN_ACCESS_GROUPS names it; without a daemon, name one in KEYCHAIN_ACCESS_GROUPS"
        case .groupNotHeld(let group, let client):
            "\(client) does not hold the access group '\(group)'"
        case .tokenGroupIsReadOnly:
            "items in \(Client.tokenGroup) live on a token and cannot be changed"
        case .rightNotHeld(let right, let client):
            "\(client) does not hold the right '\(right)'; grant it in the entitlements file"
        case .unknownCaller(let reason):
            reason
        }
    }
}

/// The rules: who may name which group, and who may do what beyond that. Pure: no state, no input or output.
///
/// The rules for groups are those of Apple's keychain server: no group at all is refused for every operation, an
/// explicit group has to be held, `*` holds all, and no group named means all groups of the client. An operation that
/// does not name its items is confined to the groups that the client may list.
package enum AccessPolicy {
    package static func scope(of operation: AccessRequest, for client: Client) throws(AccessDenied) -> GroupScope {
        if let right = operation.right, !client.rights.isSuperset(of: right) {
            throw .rightNotHeld(right: right.name, client: client.identifier)
        }
        // Which groups' items travel is the circle's decision, and not the carrier's, which reads none of them.
        if operation.kind == .synchronize { return .every }
        // A new item without a group goes to the one that the client prefers, which has to be its own.
        if operation.kind.makesItem, operation.accessGroup == nil, client.preferredGroup != nil {
            _ = try groupForNewItem(nil, client: client)
        }
        let scope = try scope(of: operation, in: usableGroups(for: operation, client), client)
        // What concerns the whole vault is for those who may see all of it.
        if operation.isAboutWholeVault, scope != .every {
            throw .groupNotHeld(group: Client.everyGroup, client: client.identifier)
        }
        return scope
    }

    /// The groups that count for an operation.
    private static func usableGroups(
        for operation: AccessRequest, _ client: Client
    ) throws(AccessDenied) -> [String] {
        guard !operation.namesItems, let listable = client.listableGroups else { return client.accessGroups }
        let isRefused =
            if let group = operation.accessGroup {
                holds(client.accessGroups, group) && !holds(listable, group)
            } else {
                listable.isEmpty && !client.accessGroups.isEmpty
            }
        if isRefused { throw .rightNotHeld(right: CallerRights.list.name, client: client.identifier) }
        return listable
    }

    private static func scope(
        of operation: AccessRequest, in groups: [String], _ client: Client
    ) throws(AccessDenied) -> GroupScope {
        guard !groups.isEmpty else { throw .noAccessGroups(client: client.identifier) }
        guard let group = operation.accessGroup else {
            if groups.contains(Client.everyGroup) { return .every }
            guard operation.kind.isWrite else { return .only(groups) }
            let writable = groups.filter { $0 != Client.tokenGroup }
            guard !writable.isEmpty else { throw .tokenGroupIsReadOnly }
            return .only(writable)
        }
        guard holds(groups, group) else { throw .groupNotHeld(group: group, client: client.identifier) }
        if operation.kind.isWrite, group == Client.tokenGroup { throw .tokenGroupIsReadOnly }
        return .only([group])
    }

    private static func holds(_ groups: [String], _ group: String) -> Bool {
        groups.contains { $0 == Client.everyGroup || $0.isSameGroup(as: group) }
    }

    /// The group a new item goes to.
    package static func groupForNewItem(_ requested: String?, client: Client) throws(AccessDenied) -> String {
        if let requested { return requested }
        if let preferred = client.preferredGroup {
            guard holds(client.accessGroups, preferred) else {
                throw .groupNotHeld(group: preferred, client: client.identifier)
            }
            return preferred
        }
        guard let first = Client.groupForNewItem(in: client.accessGroups) else {
            throw .noAccessGroups(client: client.identifier)
        }
        return first
    }
}

extension String {
    /// Whether two names stand for the same access group: the same bytes. Swift's own equality takes
    /// different spellings of a character for the same, and the store does not.
    package func isSameGroup(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
