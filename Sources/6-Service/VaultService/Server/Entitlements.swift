import Access
import CLibrary
import VaultInterface

/// The rules of an entitlements file: who may use which access groups.
package struct Entitlements: Sendable, Equatable {
    package struct Rule: Sendable, Equatable {
        /// What a caller has to be; all that is given must hold.
        package var executable: String?
        package var user: uid_t?
        package var unit: String?
        package var userUnit: String?
        package var flatpak: String?
        package var snap: String?
        package var label: String?
        package var groups: [String] = []
        package var rights: CallerRights = []
        /// The most bytes of items that each of the groups may hold; nil for no limit.
        package var quota: Int?

        package init() {}

        package func matches(_ peer: PeerIdentity) -> Bool {
            (executable == nil || executable == peer.executable?.path)
                && (user == nil || user == peer.user)
                && (unit == nil || peer.unit == unit.map(SystemdUnit.system))
                && (userUnit == nil || peer.unit == userUnit.map(SystemdUnit.user))
                && (flatpak == nil || flatpak == peer.flatpak)
                && (snap == nil || snap == peer.snap)
                && (label == nil || label == peer.label)
        }

        /// Whether a program that the rule matches can take no other name for the group of its own than `peer` has. A
        /// user can copy an executable, and make up a Flatpak application for it in a user namespace.
        package func fixesOwnGroup(of peer: PeerIdentity) -> Bool {
            if peer.hasUnitName { return true }
            if peer.flatpak != nil { return flatpak != nil }
            if peer.snap != nil { return snap != nil }
            return peer.executable == nil || executable != nil
        }
    }

    package var rules: [Rule] = []
    /// Whether the command line tool that is installed with the daemon holds every group and right when its
    /// owner runs it.
    package var trustsOwnerTool = true

    package init() {}

    /// Returns the groups that `peer` holds.
    ///
    /// - Parameters:
    ///   - owner: The user whom the daemon runs as.
    ///   - tool: The owner's command line tool.
    package func grant(
        to peer: PeerIdentity, owner: uid_t, tool: PeerIdentity.Executable?
    ) throws(AccessDenied) -> CallerGrant {
        let isTool = trustsOwnerTool && peer.user == owner && tool != nil && peer.executable == tool
        let matching = rules.filter { $0.matches(peer) }
        guard peer.user == owner || !matching.isEmpty else {
            throw .unknownCaller(reason: "user \(peer.user) is no caller of this vault; add a rule to its entitlements")
        }
        let name = peer.ownGroup(owner: owner)
        var grant = CallerGrant(identifier: name ?? "process of user \(peer.user)")
        grant.program =
            isTool
            ? nil
            : ServedProgram(
                user: peer.user, name: grant.identifier, hasChosenName: !peer.hasUnitName)
        grant.process = ClientProcess(user: peer.user, number: peer.process)
        var quotas = GroupQuotas()
        for rule in matching {
            for group in rule.groups {
                grant.add(group, isListable: rule.rights.contains(.list))
                quotas.add(group, bytes: rule.quota)
            }
            // Otherwise a program with a quota could store without end in groups of its own.
            if let name {
                quotas.add(name, bytes: rule.fixesOwnGroup(of: peer) ? rule.quota : rule.quota.map { _ in 0 })
            }
            grant.rights.formUnion(rule.rights)
        }
        if isTool {
            grant.identifier = "keychain"
            grant.add("keychain", isListable: true)
            grant.add(Client.everyGroup, isListable: true)
            grant.rights = .all
        } else if let name {
            // Nobody else's items are in it.
            grant.add(name, isListable: true)
        }
        if !isTool, quotas.isLimiting { grant.quotas = quotas }
        return grant
    }
}

/// The groups that a caller holds.
package struct CallerGrant: Sendable, Equatable {
    package var identifier: String
    package private(set) var groups: [String] = []
    package private(set) var listable: [String] = []
    package var rights: CallerRights = []
    /// Nil if no rule has a quota.
    package var quotas: GroupQuotas?
    /// Nil for the owner's tool.
    package var program: ServedProgram?
    package var process: ClientProcess?

    package init(identifier: String) { self.identifier = identifier }

    package mutating func add(_ group: String, isListable: Bool) {
        if !groups.contains(where: { $0.isSameGroup(as: group) }) { groups.append(group) }
        if isListable, !listable.contains(where: { $0.isSameGroup(as: group) }) { listable.append(group) }
    }

    package var description: CallerDescription {
        CallerDescription(identifier: identifier, accessGroups: groups, listableGroups: listable, rights: rights)
    }

    /// Returns the client that an operation runs for, with the groups both held and claimed, in the order of the claim.
    package func client(claiming claim: [String]) -> Client {
        Client(
            identifier: identifier, accessGroups: Self.effective(groups, claim == groups ? nil : claim),
            preferredGroup: Client.groupForNewItem(in: claim),
            listableGroups: Self.effective(listable, claim == groups ? nil : claim), rights: rights, quotas: quotas,
            program: program, process: process)
    }

    private static func effective(_ held: [String], _ claim: [String]?) -> [String] {
        guard let claim else { return held }
        let holdsEvery = held.contains(Client.everyGroup)
        var effective: [String] = []
        for group in claim {
            if holdsEvery || held.contains(where: { $0.isSameGroup(as: group) }) {
                effective.append(group)
            } else if group == Client.everyGroup {
                effective += held.filter { !effective.contains($0) }
            }
        }
        return effective
    }
}

extension PeerIdentity {
    /// Whether the caller is named after a unit of the system's systemd, which only root makes.
    package var hasUnitName: Bool {
        guard flatpak == nil, snap == nil, case .system = unit else { return false }
        return true
    }

    /// Returns the access group of this caller alone, named after the firmest thing known of it; nil if nothing is.
    package func ownGroup(owner: uid_t) -> String? {
        let name: String
        if let flatpak {
            name = "flatpak:" + flatpak
        } else if let snap {
            name = "snap:" + snap
        } else if case .system(let unit) = unit {
            name = "unit:" + unit
        } else if let executable {
            name = executable.path
        } else {
            // Nothing tells the programs of another user apart, and they need not be.
            return user == owner ? nil : "uid:\(user)"
        }
        return user == owner ? name : "uid:\(user):" + name
    }
}
