import Access
import ProcessVault

/// The name of this program in the keychain, and the access groups that it holds.
public enum KeychainProgram {
    /// Declares the program's identity for all keychain operations that follow.
    ///
    /// Call it once, before the first operation. Without it the environment decides
    /// (`KEYCHAIN_ACCESS_GROUPS`, separated by commas), else the program's only group is the name of its
    /// executable.
    ///
    /// ```swift
    /// try KeychainProgram.declare(
    ///     identifier: "com.example.mail", accessGroups: ["com.example.mail", "com.example.shared"])
    /// ```
    ///
    /// With a vault in the program's own process this is a declaration and no proof: it keeps programs
    /// that mean well apart, and stops no other program of the same user.
    ///
    /// - Parameters:
    ///   - identifier: A name in reverse-domain form, which messages use.
    ///   - accessGroups: The groups in order; the first is where new items go. `*` stands for every
    ///     group. Nil for one group with the name of the identifier.
    /// - Throws: ``KeychainError/Code/invalidRequest`` when a name is empty or there is no group.
    public static func declare(identifier: String, accessGroups: [String]? = nil) throws {
        let groups = accessGroups ?? [identifier]
        guard !identifier.isEmpty, !groups.isEmpty, groups.allSatisfy({ !$0.isEmpty }) else {
            throw KeychainError.invalidRequest(
                "a program has an identifier and at least one access group, none of them empty")
        }
        ProcessVault.declare(Client(identifier: identifier, accessGroups: groups))
    }
}
