/// A program that uses a ``TestKeychain``.
public struct TestClient: Sendable, Hashable {
    /// The program's name, as the audit log would show it.
    public var name: String
    /// The access groups it holds, in order: new items go to the first unless they name one. `*` stands
    /// for every group; a program without groups is refused everything.
    public var accessGroups: [String]

    /// A program called `name` that holds `accessGroups`.
    public init(name: String = "test", accessGroups: [String] = ["test"]) {
        self.name = name
        self.accessGroups = accessGroups
    }
}
