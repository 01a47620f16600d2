/// The program on whose behalf an operation runs, and the access groups it holds.
package struct Client: Sendable, Hashable {
    /// A name for the audit log: a bundle-like identifier or the executable's name.
    package var identifier: String
    /// The groups in order; the first is where new items go. `*` stands for every group.
    package var accessGroups: [String]
    /// Which program a server takes the client for; nil for the owner's own tool, and for a program that has the vault
    /// in its own process.
    package var program: ServedProgram?

    package init(identifier: String, accessGroups: [String], program: ServedProgram? = nil) {
        self.identifier = identifier
        self.accessGroups = accessGroups
        self.program = program
    }

    /// The group of items on hardware tokens, which can be read and not written (Apple).
    package static let tokenGroup = "com.apple.token"
    /// The entry that grants every group.
    package static let everyGroup = "*"
}

/// A program that a vault is served to, by what stays the same on all of its connections.
package struct ServedProgram: Sendable, Hashable {
    package var user: UInt32
    /// The firmest thing that is known of it, such as its unit or its executable's path.
    package var name: String

    package init(user: UInt32, name: String) {
        self.user = user
        self.name = name
    }
}
