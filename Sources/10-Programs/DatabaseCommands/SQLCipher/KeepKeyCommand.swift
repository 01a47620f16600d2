import ArgumentParser
import Bytes
import CommandKit
import DatabaseFiles
import SystemSQLite

/// Stores the raw key of a SQLCipher file in the keychain.
struct KeepKeyCommand: DocumentedCommand {
    static let summary = "Keep the raw key of a SQLCipher file in the keychain."
    static let details = """
        The file is first opened with the key. From then on `info`, `verify`, `shell`, `import` and `export` find the \
        key by themselves, also after the file was renamed or copied. The key is a password of the service \
        'sqlcipher-file'. A file with a plaintext header does not hold its salt: give 96 digits, and do not rename it.
        """
    static let examples = [Example("A key in a file", "keychain db keep-key old.db --key-fd 3 3< key")]
    static let configuration: CommandConfiguration = documented("keep-key")

    @Argument(help: "A SQLCipher file.", completion: .file())
    var path: String

    @OptionGroup var given: SQLCipherInput

    @OptionGroup(title: "Where the key is kept") var key: DatabaseKeyOptions

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func validate() throws {
        guard given.keyDescriptor != nil, given.passphraseDescriptor == nil else {
            throw ValidationError("give the raw key with --key-fd, as in --key-fd 3 3< file")
        }
    }

    private struct Answer: Encodable {
        var path: String
        var key: CipherKeyItem
    }

    func run() throws {
        guard let rawKey = try given.readRawKey() else { return }
        let storage = try key.storage
        let item = try withOwnersVault(passcode, makingKey: true, requiring: key.require) {
            let options = given.with(try rawKey.withUnsafeBytes { try SQLCipherOptions.rawKey($0) })
            let file = ProtectedDatabaseFile(path: path).with(.sqlcipher(options))
            try ProtectedConnection(file, .readOnly).close()
            return try SQLCipherKeys(path: path).add(rawKey, storage)
        }
        let kept = CipherKeyItem(account: item.account)
        if json { return try StandardOutput.write(json: Answer(path: path, key: kept)) }
        try StandardOutput.write(
            line: "\(path.escapedForTerminal): its key is the password '\(kept.service)' '\(kept.account)'")
    }
}
