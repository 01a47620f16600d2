import CLibrary

/// The files of vaults. If one is replaced, the vault and every file that it protects are lost.
package enum VaultFiles {
    /// The beginning of each keybag (Documentation/Specify/Formats/Vault.md), and the name of its file.
    private static let (magic, name) = ([UInt8]("SKKEYBAG".utf8), "keybag")

    /// Returns whether a file is in the folder of a vault, or in a folder right below one.
    package static func include(_ path: String) -> Bool {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        return [folder, folder + "/.."].contains(where: isVault)
    }

    private static func isVault(_ folder: String) -> Bool {
        // Nothing is waited for, if somebody put something else in its place.
        let descriptor = open("\(folder)/\(name)", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var start = [UInt8](repeating: 0, count: magic.count)
        return read(descriptor, &start, start.count) == magic.count && start == magic
    }
}
