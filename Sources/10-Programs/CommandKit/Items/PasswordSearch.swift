import Access
import ArgumentParser
import KeychainModel
import Presence
import ProcessVault
import StatusCodes
import VaultInterface

/// The service and the account that name a password.
package struct PasswordName: ParsableArguments {
    @Argument(help: "What the secret is for, such as a host or a program.", completion: .services)
    package var service: String

    @Argument(help: "Whose secret it is.", completion: .accounts)
    package var account: String

    package init() {}

    /// Both, as a person reads them.
    package var forTerminal: String { "'\(service.escapedForTerminal)' '\(account.escapedForTerminal)'" }
}

/// Chooses between items with the same name.
package struct ItemScope: ParsableArguments {
    @Option(help: ArgumentHelp("Only items of this access group.", valueName: "group"), completion: .groups)
    package var group: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Only items that are synchronized between machines, or only those that are not.")
    package var synchronizable: Bool?

    package init() {}

    package var synchronizableScope: SynchronizableScope {
        switch synchronizable {
        case true: .synchronizableOnly
        case false: .localOnly
        case nil: .any
        }
    }
}

/// Where an item is stored.
package struct ItemPlace: ParsableArguments {
    @Option(
        help: ArgumentHelp("The access group to store in, or in which to replace an item.", valueName: "group"),
        completion: .groups)
    package var group: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Whether the item is synchronized between machines. Replaces only an item of which the same is so.")
    package var synchronizable: Bool?

    package init() {}

    /// The items that have this place.
    package var scope: ItemScope {
        var scope = ItemScope()
        (scope.group, scope.synchronizable) = (group, synchronizable)
        return scope
    }
}

/// A search for the password with a name, within a scope.
package struct PasswordSearch {
    package var query: ItemQuery

    package init(
        service: String, account: String, group: String? = nil, synchronizable: SynchronizableScope = .any,
        authentication: AuthenticationOptions = .init()
    ) {
        var authentication = authentication
        // Prompts show it after the program's name, without control characters.
        authentication.prompt = "use the password '\(account)' of '\(service)'"
        query = ItemQuery(
            itemClass: .genericPassword, attributes: [.service: .string(service), .account: .string(account)],
            accessGroup: group, synchronizable: synchronizable, authentication: authentication)
    }

    package init(_ name: PasswordName, _ scope: ItemScope, _ authentication: AuthenticationOptions = .init()) {
        self.init(
            service: name.service, account: name.account, group: scope.group,
            synchronizable: scope.synchronizableScope, authentication: authentication)
    }

    /// Returns the one item that the search finds.
    ///
    /// - Parameter remedies: What the error says to do if there are several.
    package func one(
        in session: VaultSession, includingValues: Bool, remedies: Ambiguity.Remedies = .options
    ) throws -> StoredItem {
        if let item = try any(in: session, includingValues: includingValues, remedies) { return item }
        let error = try notFound(in: session, remedy: remedies.group)
        throw error
    }

    /// Returns the one item that the search finds, without its value. Where this is the owner's tool, nobody is asked
    /// for an item that needs a person: only its value does.
    package func described(in session: VaultSession) throws -> StoredItem {
        var quiet = self
        quiet.query.authentication.interaction = .skip
        quiet.query.reports.insert(.guarded)
        if let item = try quiet.oneIfAny(in: session) { return item }
        return try one(in: session, includingValues: false)
    }

    /// Returns the one item that the search finds, without its value, or nil if there is none.
    package func oneIfAny(in session: VaultSession) throws -> StoredItem? {
        try any(in: session, includingValues: false, .options)
    }

    private func any(
        in session: VaultSession, includingValues: Bool, _ remedies: Ambiguity.Remedies
    ) throws -> StoredItem? {
        var query = try query(in: session)
        query.reports.insert(.expired)
        var expired: [StoredItem] = []
        var guarded: [StoredItem] = []
        let open = try Self.items(query, includingValues, session) { part in
            switch part {
            case .expired(let item): expired.append(item)
            case .guarded(let item): guarded.append(item)
            case .item, .damage, .withheld, .locked: break
            }
        }
        let found = open + guarded
        // Where one of several items is expired, another must not silently take its place.
        guard found.count + expired.count <= 1 else { throw Ambiguity(items: found + expired).failure(remedies) }
        if let end = expired.first?.expiry.date { throw VaultError.itemExpired(end) }
        return found.first
    }

    /// Returns the items that a query finds; none if there are only expired ones, which are reported.
    private static func items(
        _ query: ItemQuery, _ includingValues: Bool, _ session: VaultSession,
        report: (CopyItems.Part) -> Void = { _ in }
    ) throws -> [StoredItem] {
        do {
            return try session.perform(CopyItems(query, includingValues: includingValues), report: report)
        } catch .itemNotFound {
            return []
        } catch .itemExpired where query.reports.contains(.expired) {
            return []
        }
    }

    /// The query, in the group that a name without one is meant in.
    package func query(in session: VaultSession) throws -> ItemQuery {
        var query = query
        if query.accessGroup == nil { query.accessGroup = try session.ownGroup }
        return query
    }

    /// Returns the other groups with an item of this name, ready for a terminal; none if a group was named.
    package func otherGroups(in session: VaultSession) throws -> [String] {
        guard query.accessGroup == nil, let group = try session.ownGroup else { return [] }
        var query = query
        query.authentication = AuthenticationOptions(interaction: .skip)
        query.reports = .withheld
        let groups = try Self.items(query, false, session).map(\.accessGroup)
        return Set(groups).subtracting([group]).sorted().map { "'\($0.escapedForTerminal)'" }
    }

    /// Returns the error for an item that is not there.
    ///
    /// - Parameter remedy: How to name a group.
    package func notFound(in session: VaultSession, remedy: String) throws -> any Error {
        let others = try otherGroups(in: session)
        guard !others.isEmpty, let group = try session.ownGroup else { return VaultError.itemNotFound }
        return Failure(
            status: errSecItemNotFound,
            "no such item in the group '\(group.escapedForTerminal)'; other programs have one in "
                + "\(others.joined(separator: ", ")): choose it with \(remedy)")
    }
}

extension VaultSession {
    /// The group in which a name that comes without one is looked for; nil for every group.
    ///
    /// A daemon's other programs store items too. One of them must not be able to put its item in the place of this
    /// one's, and so to receive the secret that is stored under that name.
    package var ownGroup: String? {
        get throws(VaultError) {
            guard let caller = try ProcessVault.servedCaller() else { return nil }
            let isOwners = caller.accessGroups.contains(Client.everyGroup)
            let namesGroups = isOwners || !ProcessVault.environmentGroups().isEmpty
            return Client.groupForNewItem(in: namesGroups ? client.accessGroups : caller.accessGroups)
        }
    }
}

extension ItemQuery {
    /// A query for exactly this item.
    package init(item: StoredItem) {
        self.init(
            itemClass: item.itemClass, accessGroup: item.accessGroup, synchronizable: .any,
            identifier: item.identifier)
    }
}

/// Several items that a name might mean.
package struct Ambiguity {
    package let items: [StoredItem]

    package init(items: [StoredItem]) { self.items = items }

    /// How to choose: between items of several groups, and between items of one group.
    package struct Remedies {
        package let group: String
        package let synchronizable: String

        package init(group: String, synchronizable: String) {
            (self.group, self.synchronizable) = (group, synchronizable)
        }

        package static let options = Remedies(
            group: "--group", synchronizable: "--synchronizable or --no-synchronizable")
    }

    package func failure(_ remedies: Remedies) -> Failure {
        let isOneGroup = Set(items.map(\.accessGroup)).count == 1
        return failure(remedy: isOneGroup ? remedies.synchronizable : remedies.group)
    }

    package func failure(remedy: String) -> Failure {
        var places: [String] = []
        for item in items {
            let place = "'\(item.accessGroup.escapedForTerminal)'" + (item.isSynchronizable ? " (synchronizable)" : "")
            if !places.contains(place) { places.append(place) }
        }
        return Failure(
            status: errSecParam,
            "\(items.count) items have this name, in \(places.sorted().joined(separator: ", ")): choose one with \(remedy)"
        )
    }
}
