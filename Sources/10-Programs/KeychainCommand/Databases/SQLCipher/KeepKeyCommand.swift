import ArgumentParser
import SQLCipherService
import SQLCipherWire

/// Stores the raw key of a SQLCipher file in the keychain.
struct KeepKeyCommand: DocumentedCommand {
    static let summary = "Keep the raw key of a SQLCipher file in the keychain."
    static let details = """
        The file is first opened with the key. From then on `info`, `verify`, `shell` and `import` find the key by \
        themselves, also after the file was renamed or copied. The key is a password of the service 'sqlcipher-file'.
        """
    static let examples = [Example("A key in a file", "keychain db keep-key old.db --key-fd 3 3< key")]
    static let configuration: CommandConfiguration = documented("keep-key")

    @Argument(help: "A SQLCipher file.", completion: .file())
    var path: String

    @OptionGroup var given: CipherKeyInput

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
        guard let cipherKey = try given.read() else { return }
        let protection = try key.itemProtection
        let account = try withOwnersVault(passcode) {
            try namingDatabase(path) { try SQLCipherDatabase(path, key: cipherKey, readOnly: true).close() }
            return try CipherFileKeys().add(
                cipherKey.bytes, of: path, name: FileName.of(path), protection, accessGroup: key.group)
        }
        let kept = CipherKeyItem(account: account)
        if json { return try StandardOutput.write(json: Answer(path: path, key: kept)) }
        try StandardOutput.write(
            line: "\(path.escapedForTerminal): its key is the password '\(kept.service)' '\(account)'")
    }
}
