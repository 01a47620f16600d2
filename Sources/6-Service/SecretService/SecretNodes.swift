import KeychainModel
import VaultInterface

/// The objects that programs such as `busctl tree` find by going down from the root.
struct SecretNodes {
    let access: SecretAccess
    let hub: SecretHub

    /// The most items of a collection that are named: who wants all asks for the collection's items.
    private static let most = 1000

    /// Returns the names of the objects right under a path that the program may see. Nobody is asked to unlock the
    /// vault for them.
    func names(under path: String, in store: () throws(VaultError) -> SecretStore) throws(VaultError) -> [String] {
        let root = SecretPath.service.text
        switch path {
        case root: return ["aliases", "collection"]
        case root + "/aliases": return ["default"]
        case root + "/collection": return try isReadable() ? store().collections().map(\.id) : []
        default: break
        }
        if case .collection(let id)? = SecretPath(path) {
            guard try isReadable() else { return [] }
            let found = try store().find(in: id, most: Self.most)
            return Array((found.items.map(\.id) + found.locked).prefix(Self.most))
        }
        // On the way to the service.
        let start = path == "/" ? path : path + "/"
        guard root.hasPrefix(start) else { return [] }
        return [String(root.dropFirst(start.count).prefix { $0 != "/" })]
    }

    /// Returns whether the vault can be read without a question. Without a daemon, reading a locked vault asks for the
    /// passcode.
    private func isReadable() throws(VaultError) -> Bool {
        guard !hub.isOfSharedVault else { return true }
        let status = try access.session().perform(ReadStatus())
        return !status.isPasscodeSet || status.lockState == .unlocked
    }
}
