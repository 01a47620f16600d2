import FoundationEssentials
import Items
import Keybag
import PrivateFiles
import VaultInterface

/// The item store of a vault: which file it is, whether it is the present one, and taking over a plain one of the
/// format before. All for callers that hold the folder's lock.
extension VaultFolder {
    /// The store of the format before.
    static let plainStoreName = "items.db"

    /// The name of the store whose rows belong to a keybag. A keybag that takes the place of another, with other keys,
    /// has a store of its own.
    static func storeName(of keybag: UUID) -> String { "items-\(shortName(of: keybag)).db" }

    /// The part of the name of a file that tells whose it is: the first 8 bytes of the keybag's identifier.
    static func shortName(of keybag: UUID) -> Substring {
        keybag.uuidString.lowercased().filter { $0 != "-" }.prefix(16)
    }

    /// Opens the item store of `keybag`, and makes sure that it is no older than the keybag knows.
    ///
    /// A vault of the format before is taken over first; `keybag` then is the one that says so.
    func openStore(of keybag: inout OpenedKeybag) throws -> ItemStore {
        if keybag.keys.keybag.storeSequence == nil {
            keybag = try takeOverPlainStore(of: keybag)
        } else {
            removeConvertedPlainStore()
        }
        keybag = try completeErase(keybag)
        try settleRenewal(keybag)
        let keys = keybag.keys
        let name = Self.storeName(of: keybag.identifier)
        guard folder.contains(name) else { throw missing(name) }
        try checkFiles(of: name)
        // An empty file is no damaged store, and would become a new one.
        guard try folder.size(of: name) > 0 else {
            throw VaultError.corruptVault(
                reason: "\(folder.path(of: name)) is empty; restore the vault from a backup")
        }
        let store = try ItemStore.open(path: folder.path(of: name), key: keys.storeKey)
        do {
            let standing = try store.standing()
            guard standing.owner == keybag.identifier else {
                throw VaultError.unusableVault(
                    reason: "\(folder.path(of: name)) belongs to another keybag; restore both from the same backup")
            }
            guard standing.sequence >= keys.keybag.storeSequence ?? 0 else {
                throw VaultError.corruptVault(
                    reason:
                        "\(folder.path(of: name)) is an older copy: the keybag knows of later changes. Put back the "
                        + "newer one, or restore the vault from a backup")
            }
            return store
        } catch {
            store.abandon()
            throw error
        }
    }

    /// Makes the empty store of a keybag.
    func makeStore(for keys: ClassKeys) throws -> ItemStore {
        let (identifier, name) = (keys.keybag.identifier, Self.storeName(of: keys.keybag.identifier))
        try folder.touch(name)
        let store = try ItemStore.open(path: folder.path(of: name), key: keys.storeKey)
        try store.create(for: identifier, after: keys.keybag.storeSequence ?? 0)
        return store
    }

    /// Completes an erase that was killed between keys and rows. Until it is complete, the keybag names the one that it
    /// has replaced, and the store of that one is there until this one's own is.
    ///
    /// - Returns: The keybag that says that the erase is complete.
    func completeErase(_ keybag: OpenedKeybag) throws -> OpenedKeybag {
        guard let replaced = keybag.keys.keybag.replaces else { return keybag }
        let name = Self.storeName(of: keybag.identifier)
        if folder.contains(Self.storeName(of: replaced)) {
            // A journal is there only before a new store has its tables.
            let isUnfinished = !folder.contains(name) || folder.contains(name + "-journal")
            if try isUnfinished || isWithoutTables(name, keybag) {
                try removeStore(name)
                try makeStore(for: keybag.keys).close()
                try folder.synchronize()
            }
            try removeStore(Self.storeName(of: replaced))
        }
        // If it is not flushed, the next opening does this again.
        return try replaceKeybag(with: keybag.keys.keybag.withErasureComplete(), in: keybag.keys.enclave).keybag
    }

    private func isWithoutTables(_ name: String, _ keybag: OpenedKeybag) throws -> Bool {
        try checkFiles(of: name)
        let store = try ItemStore.examine(path: folder.path(of: name), key: keybag.keys.storeKey)
        defer { store.abandon() }
        return try store.isEmptyFile()
    }

    /// Removes a store with the files beside it.
    func removeStore(_ name: String) throws {
        // The page index of an encrypted store has the store's name and then its own.
        let others = try folder.names().filter { $0.hasPrefix(name + "-") }
        for name in [name] + others { try folder.remove(name) }
    }

    /// The item stores in the folder, plain and encrypted.
    func storeNames() throws -> [String] {
        try folder.names().filter { $0 == Self.plainStoreName || $0.hasPrefix("items-") && $0.hasSuffix(".db") }
            .sorted()
    }

    /// Refuses files that others may read or have put there.
    private func checkFiles(of name: String) throws {
        try folder.checkFile(name)
        let journal = name + "-journal"
        guard !folder.contains(journal) else {
            throw VaultError.unusableVault(
                reason: "\(folder.path(of: journal)) does not belong to a vault; move it away")
        }
        for suffix in ["-wal", "-shm"] {
            do throws(FileError) {
                try folder.checkFile(name + suffix)
            } catch .notFound {
                // Another process that closes the store as the last one removes both at any moment.
            }
        }
    }

    // MARK: The plain store of the format before

    /// Copies the rows of a plain store into an encrypted one, once. A kill at any moment leaves either the plain store
    /// in force, or the encrypted one with all its rows.
    private func takeOverPlainStore(of keybag: OpenedKeybag) throws -> OpenedKeybag {
        guard folder.contains(Self.plainStoreName) else { throw missing(Self.plainStoreName) }
        try checkFiles(of: Self.plainStoreName)
        let plain = ItemStore.examine(plain: folder.path(of: Self.plainStoreName))
        do {
            try plain.checkHeader()
        } catch {
            try? plain.close()
            throw error
        }
        do {
            let sequence = try convert(plain, keybag)
            try plain.close()
            let converted = try replaceKeybag(
                with: keybag.keys.keybag.knowing(storeSequence: sequence).withErasureComplete(),
                in: keybag.keys.enclave)
            if let flush = converted.flush { throw flush }
            try removeStore(Self.plainStoreName)
            return converted.keybag
        } catch {
            plain.abandon()
            throw error
        }
    }

    /// Removes the plain store that is left if a program was killed after the keybag said that it is taken over. One
    /// that was not, and was put there, stays: nobody reads it.
    private func removeConvertedPlainStore() {
        guard folder.contains(Self.plainStoreName), (try? checkFiles(of: Self.plainStoreName)) != nil else { return }
        let plain = ItemStore.examine(plain: folder.path(of: Self.plainStoreName))
        guard (try? plain.checkHeader()) != nil, (try? plain.check()) == ItemStore.convertedOwner else {
            try? plain.close()
            return
        }
        plain.abandon()
        try? removeStore(Self.plainStoreName)
    }

    /// - Returns: The number of the last change of the encrypted store.
    private func convert(_ plain: ItemStore, _ keybag: OpenedKeybag) throws -> UInt64 {
        let (name, key) = (Self.storeName(of: keybag.identifier), try keybag.keys.storeKey)
        let owner = try plain.check()
        switch owner {
        case keybag.identifier: try removeStore(name)
        case ItemStore.convertedOwner:
            // Killed after the rows were copied. Unless they were not.
            if try !folder.contains(name) || isWithoutTables(name, keybag) { try removeStore(name) }
        case keybag.keys.keybag.replaces:
            // The keys of these rows were destroyed by an erase that did not get to the rows.
            try removeStore(name)
            try makeStore(for: keybag.keys).close()
        default:
            throw VaultError.unusableVault(
                reason: "\(folder.path(of: Self.plainStoreName)) belongs to another keybag; "
                    + "restore keybag and items.db from the same backup")
        }
        if !folder.contains(name) {
            try folder.touch(name)
            try plain.convert(
                to: folder.path(of: name), key: key, of: keybag.identifier, progress: EmbeddedVault.tellOfTakingOver)
            try folder.synchronize()
        }
        let store = try ItemStore.examine(path: folder.path(of: name), key: key)
        defer { store.abandon() }
        return try store.sequence()
    }

    /// Returns whether a store is what a killed creation left: it has no rows.
    func isWithoutRows(_ name: String, under keybag: Data) -> Bool {
        // Before its tables are there, a store has one page at most.
        if let size = try? folder.size(of: name), size <= 4_096 { return true }
        guard let enclave = try? readEnclave(Self.deviceSecretName),
            let keybag = try? Keybag(decoding: keybag, in: enclave), Self.storeName(of: keybag.identifier) == name,
            let key = try? ClassKeys(keybag, in: enclave).storeKey,
            let store = try? ItemStore.examine(path: folder.path(of: name), key: key)
        else { return false }
        defer { store.abandon() }
        return (try? store.isEmptyFile()) == true || (try? store.isWithoutRows()) == true
    }

    /// Removes the plain store that a killed creation of the format before left; one that holds items is not.
    func removeEmptyPlainStore() throws {
        guard folder.contains(Self.plainStoreName) else { return }
        try checkFiles(of: Self.plainStoreName)
        let store = ItemStore.examine(plain: folder.path(of: Self.plainStoreName))
        if try !store.isEmptyFile() {
            _ = try store.check()
            guard try store.isWithoutRows() else { return store.abandon() }
        }
        try store.close()
        try removeStore(Self.plainStoreName)
    }
}
