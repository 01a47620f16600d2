/// What a caller may do besides using the items of its access groups.
package struct CallerRights: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Search a granted group without naming the item.
    package static let list = CallerRights(rawValue: 1 << 0)
    /// Lock and unlock the vault.
    package static let unlock = CallerRights(rawValue: 1 << 1)
    /// Set, change and remove the passcode; erase; verify.
    package static let administer = CallerRights(rawValue: 1 << 2)

    /// Carry what travels between the members of a circle.
    package static let synchronize = CallerRights(rawValue: 1 << 3)

    /// Those of a program that has the vault in its own process, and of the owner's tool.
    package static let all: CallerRights = [.list, .unlock, .administer, .synchronize]

    /// The names in an entitlements file.
    package static let names: [(name: String, right: CallerRights)] = [
        ("list", .list), ("unlock", .unlock), ("administer", .administer),
        ("synchronize", .synchronize),
    ]

    /// The name of one right.
    var name: String { Self.names.first { $0.right == self }?.name ?? "unknown" }
}
