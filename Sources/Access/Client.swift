/// The program on whose behalf an operation runs, and the access groups it holds.
package struct Client: Sendable, Hashable {
    /// A name for the audit log: a bundle-like identifier or the executable's name.
    package var identifier: String
    /// The groups in order; the first is where new items go. `*` stands for every group.
    package var accessGroups: [String]

    package init(identifier: String, accessGroups: [String]) {
        self.identifier = identifier
        self.accessGroups = accessGroups
    }

    /// The group of items on hardware tokens, which can be read and not written (Apple).
    package static let tokenGroup = "com.apple.token"
    /// The entry that grants every group.
    package static let everyGroup = "*"
}
