import ArgumentParser
import Bytes
import DatabasePages
import SQLCipherWire
import StatusCodes
import VaultInterface

/// Where a command takes the key of a SQLCipher file from if the keychain does not have it: never the command line.
struct CipherKeyInput: ParsableArguments {
    @Option(
        name: .customLong("key-fd"),
        help: ArgumentHelp(
            "Read a SQLCipher file's raw key from this open file descriptor: 64 hexadecimal digits.", valueName: "n"))
    var keyDescriptor: Int32?

    @Option(
        name: .customLong("passphrase-fd"),
        help: ArgumentHelp(
            "Read a SQLCipher file's passphrase from this open file descriptor, up to a newline.", valueName: "n"))
    var passphraseDescriptor: Int32?

    func validate() throws {
        guard keyDescriptor == nil || passphraseDescriptor == nil else {
            throw ValidationError("--key-fd and --passphrase-fd exclude each other")
        }
        try OpenDescriptor.validate(keyDescriptor)
        try OpenDescriptor.validate(passphraseDescriptor)
    }

    var isGiven: Bool { keyDescriptor != nil || passphraseDescriptor != nil }

    /// Returns nil if no key was given.
    func read() throws -> CipherKey? {
        if let keyDescriptor {
            let digits = try Self.read(keyDescriptor, "key")
            guard let key = try RawCipherKey.bytes(ofDigits: digits) else {
                throw Failure(
                    status: errSecParam,
                    "the key is not 64 hexadecimal digits: write its 32 bytes as hexadecimal digits")
            }
            return CipherKey(.raw, key)
        }
        guard let passphraseDescriptor else { return nil }
        let passphrase = try Self.read(passphraseDescriptor, "passphrase")
        guard !passphrase.isEmpty else {
            throw Failure(status: errSecParam, "the passphrase is empty: give one of at least one character")
        }
        return CipherKey(.passphrase, passphrase)
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

/// The 32 bytes of a key, and the digits that `PRAGMA key` takes for them.
enum RawCipherKey {
    static func random() throws -> SecretBytes {
        let key = try? SecretBytes(count: 32) { try KernelRandom.fill($0) }
        guard let key else { throw Failure(VaultError.memoryUnavailable) }
        return key
    }

    static func digits(of key: SecretBytes) throws -> SecretBytes {
        let digits = try? SecretBytes(count: key.count * 2) { room in
            key.withUnsafeBytes { key in
                for (index, byte) in key.enumerated() {
                    room[index * 2] = digit(byte >> 4)
                    room[index * 2 + 1] = digit(byte & 15)
                }
            }
        }
        guard let digits else { throw Failure(VaultError.memoryUnavailable) }
        return digits
    }

    /// Returns nil unless there are 64 hexadecimal digits.
    static func bytes(ofDigits digits: SecretBytes) throws -> SecretBytes? {
        let isKey = digits.withUnsafeBytes { $0.count == 64 && $0.allSatisfy { value(of: $0) != nil } }
        guard isKey else { return nil }
        let key = try? SecretBytes(count: 32) { room in
            digits.withUnsafeBytes { digits in
                for index in 0..<32 {
                    room[index] = (value(of: digits[index * 2]) ?? 0) << 4 | (value(of: digits[index * 2 + 1]) ?? 0)
                }
            }
        }
        guard let key else { throw Failure(VaultError.memoryUnavailable) }
        return key
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
