import ArgumentParser
import CommandKit
import DatabaseFiles

/// Encrypts a plain database in place.
struct EncryptDatabaseCommand: DocumentedCommand {
    static let summary = "Encrypt a plain SQLite database in place."
    static let details = """
        No program may have the database open meanwhile. The data of the plain file can stay on the disk, in free \
        space and in snapshots, until something else is written there.
        """
    static let examples = [Example("A database", "keychain db encrypt app.db --class complete")]
    static let configuration: CommandConfiguration = documented("encrypt")

    @Argument(help: "A plain SQLite database.", completion: .file())
    var path: String

    @OptionGroup var key: DatabaseKeyOptions

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func run() throws {
        let storage = try key.storage
        try withOwnersVault(passcode, makingKey: true, requiring: key.require) {
            try DatabaseConversion.run(path, verb: "encrypted", json: json) { file, progress in
                try file.encrypt(key: storage, progress: progress)
            }
        }
    }
}

/// Makes an encrypted database plain again.
struct DecryptDatabaseCommand: DocumentedCommand {
    static let summary = "Make an encrypted database plain again, in place."
    static let details = "Its key is removed from the keychain. No program may have the database open meanwhile."
    static let examples = [Example("A database", "keychain db decrypt app.db")]
    static let configuration: CommandConfiguration = documented("decrypt")

    @Argument(help: "An encrypted database.", completion: .file())
    var path: String

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func run() throws {
        try withOwnersVault(passcode) {
            try DatabaseConversion.run(path, verb: "made plain", json: json) { file, progress in
                try file.decrypt(progress: progress)
            }
        }
    }
}
