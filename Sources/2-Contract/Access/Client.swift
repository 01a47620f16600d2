/// The program on whose behalf an operation runs, and the access groups it holds.
package struct Client: Sendable, Hashable {
    /// A name for the audit log: a bundle-like identifier or the executable's name.
    package var identifier: String
    /// The groups in order; the first is where new items go. `*` stands for every group.
    package var accessGroups: [String]
    /// The group that it chose for items that name none, held or not; nil for the first that it holds. Where it is not
    /// held such an item goes nowhere, and not to another group that is.
    package var preferredGroup: String?
    /// Those of them that it may search without naming the item; nil for all.
    package var listableGroups: [String]?
    package var rights: CallerRights
    /// What its groups may hold at most; nil for no limit.
    package var quotas: GroupQuotas?
    /// Which program a server takes the client for; nil for the owner's own tool, and for a program that has the vault
    /// in its own process.
    package var program: ServedProgram?
    /// The process that asks, for the audit log; nil for the process that has the vault open.
    package var process: ClientProcess?

    /// Unless more is said, a client that may do everything with what is in its groups.
    package init(
        identifier: String, accessGroups: [String], preferredGroup: String? = nil, listableGroups: [String]? = nil,
        rights: CallerRights = .all, quotas: GroupQuotas? = nil, program: ServedProgram? = nil,
        process: ClientProcess? = nil
    ) {
        self.identifier = identifier
        self.accessGroups = accessGroups
        self.preferredGroup = preferredGroup
        self.listableGroups = listableGroups
        self.rights = rights
        self.quotas = quotas
        self.program = program
        self.process = process
    }

    /// The group of items on hardware tokens, which can be read and not written (Apple).
    package static let tokenGroup = "com.apple.token"
    /// The entry that grants every group.
    package static let everyGroup = "*"

    /// The first of `groups` that a new item can go to.
    package static func groupForNewItem(in groups: [String]) -> String? {
        groups.first { $0 != everyGroup && $0 != tokenGroup }
    }
}

/// A process as the audit log names it.
package struct ClientProcess: Sendable, Hashable {
    package var user: UInt32
    /// The process's number; nil for several processes of the user.
    package var number: Int32?

    package init(user: UInt32, number: Int32?) {
        self.user = user
        self.number = number
    }
}

/// A program that a vault is served to, by what stays the same on all of its connections.
package struct ServedProgram: Sendable, Hashable {
    package var user: UInt32
    /// The firmest thing that is known of it, such as its unit or its executable's path.
    package var name: String
    /// Whether the user can give the program any number of such names.
    package var hasChosenName: Bool

    package init(user: UInt32, name: String, hasChosenName: Bool = true) {
        self.user = user
        self.name = name
        self.hasChosenName = hasChosenName
    }
}
