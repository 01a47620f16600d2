import Bytes
import CLibrary
import DataProtectionEssentials
import DatabasePages
import FoundationEssentials
import KeychainModel
import ProcessVault
import StoredKeys
import VaultInterface

/// The keys of databases: one item of the keychain for each, named after the database's id, or a protected file.
struct DatabaseKeys: Sendable {
    /// The database's file: the name that people see of the key, and beside which a key file is.
    let path: String
    let items: KeyItems

    package static let service = KeyPurpose.databaseService

    init(path: String, accessGroup: String? = nil, prompt: String? = nil) {
        self.path = path
        items = KeyItems(
            service: Self.service, label: "Encrypted database", accessGroup: accessGroup, prompt: prompt,
            session: VaultSession.override)
    }

    /// What is known of a key without reading it.
    struct Found: Sendable {
        enum Place: Sendable {
            case item(KeyItems.Item, KeyNote)
            case file(ProtectedFile, FileProtectionType)
        }
        let place: Place

        /// The same place and class, for a new key.
        var storage: DatabaseKeyStorage {
            switch place {
            case .item(let item, let note):
                return DatabaseKeyStorage(
                    place: .keychain(
                        StoredKeyProtection(note.control(item.protection), isInEnclave: note.enclaveKey != nil),
                        accessGroup: item.accessGroup, staysOpen: note.staysOpen))
            case .file(_, let protection): return DatabaseKeyStorage(place: .file(protection))
            }
        }

        /// Whether the database is to be closed when the vault is locked.
        var closesWithLock: Bool {
            switch place {
            case .item(let item, let note): item.closesWithLock && !note.staysOpen
            case .file(_, let protection): protection == .complete
            }
        }
    }

    /// The file that a key may be in: with the id in its name, as the page index, so that a database that takes the
    /// place of another brings its own.
    func keyFile(of database: DatabaseID) -> ProtectedFile { ProtectedFile(path: "\(path)-\(database).key") }

    /// Looks for the key of a database, and asks nobody.
    func find(_ database: DatabaseID) throws -> Found {
        let found = try translating { try items.list(database.description) }
        if let item = found.first {
            guard let note = KeyNote(item.generic) else { throw unsupported }
            return Found(place: .item(item, note))
        }
        let file = keyFile(of: database)
        guard let protection = try? file.protection else {
            throw ProtectedDatabaseError(
                .keyNotFound, path: path,
                message: "there is no key for \(path) in the keychain, or none that this program may use; check "
                    + "`keychain db info` and the program's access groups")
        }
        return Found(place: .file(file, protection))
    }

    /// Reads a key, which may ask a person.
    func read(_ found: Found, of database: DatabaseID) throws -> SecretBytes {
        switch found.place {
        case .item(_, let note):
            let value = try translating {
                try items.read(database.description, note.reference)
            }
            guard let value else {
                throw ProtectedDatabaseError(
                    .keyNotFound, path: path, message: "the key of \(path) was removed from the keychain meanwhile")
            }
            return try KeyValue(value, of: database, path: path).key
        case .file(let file, _):
            let value = try translating { try file.data() }
            return try KeyValue(value, of: database, path: path).key
        }
    }

    /// Keeps a new key.
    func add(
        _ key: SecretBytes, of database: DatabaseID, _ storage: DatabaseKeyStorage
    ) throws {
        switch storage.place {
        case .keychain(let protection, let accessGroup, let staysOpen):
            let items = KeyItems(
                service: Self.service, label: "Encrypted database \(name)", accessGroup: accessGroup,
                prompt: items.prompt, session: VaultSession.override)
            let note = KeyNote(staysOpen: staysOpen, flags: protection.control.flags)
            let isNew = try translating {
                try items.store(
                    (database.description, KeyValue.bytes(key, of: database)), as: database.description, name: name,
                    note: note.bytes, protection)
            }
            guard isNew else {
                throw ProtectedDatabaseError(
                    .inputOutput, path: path, message: "the keychain has a key with the name of a new one; try again")
            }
        case .file(let protection):
            try translating {
                let writer = try ProtectedFileWriter(keyFile(of: database), protection: protection)
                try writer.write(contentsOf: KeyValue.bytes(key, of: database))
                try writer.finish()
            }
        }
    }

    /// Keeps a key elsewhere, and removes it from where it was.
    func move(
        _ found: Found, of database: DatabaseID, to storage: DatabaseKeyStorage
    ) throws {
        let key = try read(found, of: database)
        // The item's name is taken by the former item: a moment in which there are both is only to be had with two
        // kinds.
        switch (found.place, storage.place) {
        case (.item(let item, let note), .keychain(let protection, let group, let staysOpen))
        where !protection.isInEnclave && note.enclaveKey == nil && (group == nil || group == item.accessGroup):
            let changed = KeyNote(staysOpen: staysOpen, flags: protection.control.flags)
            try translating {
                func list() throws {
                    try items.change(database.description, generic: changed.bytes, protection: protection.control)
                }
                // An interruption here leaves a list with the stricter class. The list decides when the database
                // closes.
                if protection.closesWithLock { try list() }
                try items.protectKey(database.description, protection.control)
                if !protection.closesWithLock { try list() }
            }
        case (.file(let file, _), .file(let protection)):
            try translating { try file.setProtection(protection) }
        case (.item, .file), (.file, .keychain):
            try add(key, of: database, storage)
            try remove(found)
        case (.item, .keychain):
            // By way of a file that only an unlocked vault reads, so that the key is somewhere at every moment.
            let between = DatabaseKeyStorage(place: .file(.complete))
            try add(key, of: database, between)
            try remove(found)
            try add(key, of: database, storage)
            try remove(Found(place: .file(keyFile(of: database), .complete)))
        }
    }

    /// Wraps a key in a protected file anew, under the present key of the file's class.
    ///
    /// - Returns: Whether the wrapped key is another one now; nil for a key in an item.
    func rewrap(_ found: Found) throws -> Bool? {
        guard case .file(let file, _) = found.place else { return nil }
        return try translating { try file.rewrapKey() }
    }

    /// Removes a key for good.
    func remove(_ found: Found) throws {
        switch found.place {
        case .item(let item, let note):
            try translating {
                // Off the list first: an entry on the list must have its key.
                try items.remove(item.account)
                try items.removeKey(item.account, enclaveKey: note.enclaveKey)
            }
        case .file(let file, _):
            guard unlink(file.path) == 0 || errno == ENOENT else {
                throw ProtectedDatabaseError(
                    .inputOutput, path: path,
                    message: "cannot remove \(file.path): \(String(cString: strerror(errno)))")
            }
        }
    }

    /// Removes the key of a database, if there is one.
    func removeIfThere(_ database: DatabaseID) throws {
        do { try remove(try find(database)) } catch ProtectedDatabaseError.Code.keyNotFound {}
    }

    // MARK: Databases that are being made

    /// Items that say of which keys the databases are not finished: nothing that lies in a folder tells that, since
    /// somebody else may have put it there.
    private var unfinished: KeyItems {
        KeyItems(
            service: Self.service + ".unfinished", label: "Encrypted database, unfinished",
            keepsFormer: false, session: VaultSession.override)
    }

    func noteUnfinished(_ database: DatabaseID) throws {
        try translating {
            _ = try unfinished.add(
                database.description, name: name, generic: Data(),
                protection: AccessControl(protection: .always))
        }
    }

    func noteFinished(_ database: DatabaseID) throws {
        try translating { try unfinished.remove(database.description) }
    }

    func isUnfinished(_ database: DatabaseID) throws -> Bool {
        try translating { try !unfinished.list(database.description).isEmpty }
    }

    private var name: String { path.split(separator: "/").last.map(String.init) ?? path }

    private var unsupported: ProtectedDatabaseError {
        ProtectedDatabaseError(
            .unsupported, path: path, message: "the key of \(path) was kept by a later version; use that one")
    }

    private func translating<Result>(_ body: () throws -> Result) throws -> Result {
        try ProtectedDatabaseError.translating(path, body)
    }
}
