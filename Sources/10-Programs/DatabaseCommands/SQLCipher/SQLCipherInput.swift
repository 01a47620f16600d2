import ArgumentParser
import Bytes
import CommandKit
import DatabaseFiles
import StatusCodes
import VaultInterface

/// The key and the format of a SQLCipher file. Keys never come from the command line.
struct SQLCipherInput: ParsableArguments {
    @Option(
        name: .customLong("key-fd"),
        help: ArgumentHelp(
            "Read a SQLCipher file's raw key from this open file descriptor: 64 hexadecimal digits, or 96 with the "
                + "salt.", valueName: "n"))
    var keyDescriptor: Int32?

    @Option(
        name: .customLong("passphrase-fd"),
        help: ArgumentHelp(
            "Read a SQLCipher file's passphrase from this open file descriptor, up to a newline.", valueName: "n"))
    var passphraseDescriptor: Int32?

    @Option(
        name: .customLong("sqlcipher-version"),
        help: ArgumentHelp(
            "The version of SQLCipher's format, 1 to 4. Unless given, it is found out; a new file has version 4.",
            valueName: "version"))
    var version: Int?

    @Option(
        name: .customLong("sqlcipher-page-size"),
        help: ArgumentHelp(
            "Bytes in a page of a SQLCipher file. Unless given, they are found out; a new file has its version's "
                + "number.", valueName: "bytes"))
    var pageSize: Int?

    @Option(
        name: .customLong("kdf-iterations"),
        help: ArgumentHelp(
            "The rounds that make a key of the passphrase, if they are not those of the version.", valueName: "n"))
    var rounds: Int?

    @Option(
        name: .customLong("plaintext-header"),
        help: ArgumentHelp(
            "How many bytes at the start of a SQLCipher file are plaintext. Unless given, 32 if some are. 96 digits of "
                + "key and salt go with it.",
            valueName: "bytes"))
    var plaintextHeader: Int?

    func validate() throws {
        guard keyDescriptor == nil || passphraseDescriptor == nil else {
            throw ValidationError("--key-fd and --passphrase-fd exclude each other")
        }
        try OpenDescriptor.validate(keyDescriptor)
        try OpenDescriptor.validate(passphraseDescriptor)
        if let version, SQLCipherOptions.Version(rawValue: version) == nil {
            throw ValidationError("--sqlcipher-version is 1, 2, 3 or 4")
        }
    }

    var hasKey: Bool { keyDescriptor != nil || passphraseDescriptor != nil }

    var isGiven: Bool { hasKey || version != nil || pageSize != nil || rounds != nil || plaintextHeader != nil }

    /// Returns the key that was given, with the format; nil if no key was given.
    func read() throws -> SQLCipherOptions? {
        if let key = try readRawKey() {
            return with(try key.withUnsafeBytes { try SQLCipherOptions.rawKey($0) })
        }
        guard let passphraseDescriptor else { return nil }
        let passphrase = try Self.read(passphraseDescriptor, "passphrase")
        guard !passphrase.isEmpty else {
            throw Failure(status: errSecParam, "the passphrase is empty: give one of at least one character")
        }
        return with(.passphrase(passphrase))
    }

    /// The options with the format that was given.
    func with(_ options: SQLCipherOptions) -> SQLCipherOptions {
        var options = options
        options.version = version.flatMap(SQLCipherOptions.Version.init)
        options.pageSize = pageSize
        options.rounds = rounds
        options.plaintextHeaderSize = plaintextHeader ?? 0
        return options
    }

    /// Returns the raw key that was given, of 32 bytes or of 48 with the salt.
    func readRawKey() throws -> SecretBytes? {
        guard let keyDescriptor else { return nil }
        let digits = try Self.read(keyDescriptor, "key")
        guard let key = try Self.key(digits), key.count == 32 || key.count == 48 else {
            throw Failure(
                status: errSecParam,
                "the key is not 64 hexadecimal digits, or 96 with a salt: write its 32 bytes as hexadecimal digits")
        }
        return key
    }

    private static func key(_ digits: SecretBytes) throws -> SecretBytes? {
        do {
            return try digits.withUnsafeBytes { try SecretBytes(hexadecimal: $0) }
        } catch {
            throw Failure(VaultError.memoryUnavailable)
        }
    }

    private static func read(_ descriptor: Int32, _ what: String) throws -> SecretBytes {
        do {
            return try PasscodeInput.read(descriptor)
        } catch {
            var failure = Failure(error)
            failure.message = failure.message.replacing("passcode", with: what)
            throw failure
        }
    }
}

extension ProtectedDatabaseFile {
    /// A file that a command was given: a database that was encrypted here, or a SQLCipher file.
    ///
    /// - Parameter input: The key of a SQLCipher file, unless the keychain has it.
    static func existing(_ path: String, _ input: SQLCipherInput? = nil) throws -> ProtectedDatabaseFile {
        let file = ProtectedDatabaseFile(path: path)
        if let given = try input?.read() { return file.with(.sqlcipher(given)) }
        do {
            _ = try file.header()
            return file
        } catch ProtectedDatabaseError.Code.notDatabase {
            guard try SQLCipherKeys(path: path).find() != nil else { throw Failure.unknownDatabase(path) }
            return file.with(.sqlcipher(input?.with(.keychain()) ?? .keychain()))
        }
    }
}

extension Failure {
    static func unknownDatabase(_ path: String) -> Failure {
        Failure(
            status: errSecDecode,
            "\(path.escapedForTerminal) is not a database that was encrypted here; if it is a SQLCipher file, the "
                + "keychain has no key for it: give its key with --key-fd or --passphrase-fd, or keep it with "
                + "`keychain db keep-key`")
    }
}
