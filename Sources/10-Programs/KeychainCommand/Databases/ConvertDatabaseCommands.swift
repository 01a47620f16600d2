import ArgumentParser
import DatabaseFiles

/// Encrypts a plain database in its place.
struct EncryptDatabaseCommand: DocumentedCommand {
    static let summary = "Encrypt a plain SQLite database in its place."
    static let details = """
        No program may have the database open meanwhile. What was in the plain file can stay on the disk, in free space and in \
        snapshots, until something else is written there.
        """
    static let examples = [Example("A database", "keychain db encrypt app.db --class complete")]
    static let configuration: CommandConfiguration = documented("encrypt")

    @Argument(help: "A plain SQLite database.")
    var path: String

    @OptionGroup var key: DatabaseKeyOptions

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: "Print what was done, and any error, as JSON.")
    var json = false

    func run() throws {
        let storage = try key.storage
        try withOwnersVault(passcode, requiring: key.require) { () throws(Failure) in
            try DatabaseConversion.run(path, verb: "encrypted", json: json) {
                (file, progress) throws(ProtectedDatabaseError) in
                try file.encrypt(key: storage, progress: progress)
            }
        }
    }
}

/// Makes an encrypted database plain again.
struct DecryptDatabaseCommand: DocumentedCommand {
    static let summary = "Make an encrypted database a plain one, in its place."
    static let details = "Its key is removed from the keychain. No program may have the database open meanwhile."
    static let examples = [Example("A database", "keychain db decrypt app.db")]
    static let configuration: CommandConfiguration = documented("decrypt")

    @Argument(help: "An encrypted database.")
    var path: String

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: "Print what was done, and any error, as JSON.")
    var json = false

    func run() throws {
        try withOwnersVault(passcode) { () throws(Failure) in
            try DatabaseConversion.run(path, verb: "made plain", json: json) {
                (file, progress) throws(ProtectedDatabaseError) in
                try file.decrypt(progress: progress)
            }
        }
    }
}

/// Encrypts a database anew.
struct RekeyDatabaseCommand: DocumentedCommand {
    static let summary = "Encrypt a database anew, under another key."
    static let details = """
        The former key is removed: copies that were made of the database before are lost with it, and are of no use to whoever \
        has them. The new one is kept as the former was, unless an option says otherwise. No program may have the database \
        open meanwhile.
        """
    static let examples = [
        Example("A new key", "keychain db rekey app.db"),
        Example("One in the enclave", "keychain db rekey app.db --key-in enclave"),
    ]
    static let configuration: CommandConfiguration = documented("rekey")

    @Argument(help: "An encrypted database.")
    var path: String

    @OptionGroup var key: DatabaseKeyChanges

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: "Print what was done, and any error, as JSON.")
    var json = false

    func run() throws {
        try withOwnersVault(passcode, requiring: key.require) { () throws(Failure) in
            let storage = try key.storage(ProtectedDatabaseFile(path: path))
            try DatabaseConversion.run(path, verb: "has a new key", json: json) {
                (file, progress) throws(ProtectedDatabaseError) in
                try file.changeKey(to: storage, progress: progress)
            }
        }
    }
}
