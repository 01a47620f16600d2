import Bytes
import Crypto
import FoundationEssentials
import KeychainModel
import ProtectedFiles
import VaultInterface

/// The key source for files under a password.
///
/// A file's key is wrapped (RFC 3394). The wrapping key is derived from the password, the file's own salt and the
/// file's identifier. `Documentation/Specify/Formats/PasswordFiles.md` describes the bytes.
package struct PasswordFileKeys: PasswordKeySource {
    private let password: SecretBytes
    private let cost: PasswordCost?

    /// - Parameters:
    ///   - password: The exact bytes; at least one.
    ///   - cost: The cost of trying a password for new files; nil for a suitable cost on this machine.
    package init(_ password: SecretBytes, cost: PasswordCost? = nil) throws(SealedFileError) {
        guard !password.isEmpty else {
            throw .refused(.invalidRequest(reason: "the password is empty; give one of at least one character"))
        }
        if let cost, !cost.isAcceptable {
            throw .refused(.invalidRequest(reason: "no file may ask for \(cost)"))
        }
        (self.password, self.cost) = (password, cost)
    }

    /// Returns the same keys, with the cost of new files measured once instead of for each file.
    package func measured() throws(SealedFileError) -> PasswordFileKeys {
        guard cost == nil else { return self }
        let suitable: PasswordCost
        do throws(VaultMemoryError) {
            suitable = try .suitable()
        } catch {
            throw .memoryUnavailable
        }
        return try PasswordFileKeys(password, cost: suitable)
    }

    package func makeFileKey(file: Data, path: String) throws(SealedFileError) -> FileKey {
        do {
            let form = WrappedUnderPassword(
                cost: try cost ?? .suitable(), salt: .random(count: WrappedUnderPassword.saltSize))
            let key = SymmetricKey(size: .bits256)
            let wrapped = try AES.KeyWrap.wrap(key, using: wrappingKey(form, file))
            let secret = try key.withUnsafeBytes { try SecretBytes(copying: $0) }
            return FileKey(key: secret, wrapped: form.encoded + wrapped)
        } catch {
            throw .memoryUnavailable
        }
    }

    package func fileKey(file: Data, wrapped: Data, path: String) throws(SealedFileError) -> SecretBytes {
        let form = try WrappedUnderPassword(wrapped, path: path)
        let wrappingKey: SymmetricKey
        do {
            wrappingKey = try self.wrappingKey(form, file)
        } catch {
            throw .memoryUnavailable
        }
        guard
            let key = try? AES.KeyWrap.unwrap(form.key, using: wrappingKey), key.bitCount == 8 * FileKey.size
        else { throw .wrongPassword(path: path) }
        guard let secret = try? key.withUnsafeBytes({ try SecretBytes(copying: $0) }) else {
            throw .memoryUnavailable
        }
        return secret
    }

    private func wrappingKey(_ form: WrappedUnderPassword, _ file: Data) throws -> SymmetricKey {
        let stretched = try form.cost.stretch(password, salt: form.salt)
        return stretched.withUnsafeBytes {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: $0), salt: file,
                info: Data("swift-keychain/v1/file-key/password".utf8) + form.encoded, outputByteCount: 32)
        }
    }
}

/// A wrapped key in the header of a file under a password.
package struct WrappedUnderPassword: Equatable, Sendable {
    static let saltSize = 16
    private static let version: UInt8 = 1
    private static let keyStart = 30
    private static let size = keyStart + FileKey.size + 8

    package let cost: PasswordCost
    let salt: [UInt8]
    /// Empty until the key is wrapped.
    let key: Data

    init(cost: PasswordCost, salt: [UInt8]) { (self.cost, self.salt, key) = (cost, salt, Data()) }

    /// - Throws: ``SealedFileError/tooCostly(path:cost:)`` before any work is done.
    package init(_ wrapped: Data, path: String) throws(SealedFileError) {
        let bytes = [UInt8](wrapped)
        guard let version = bytes.first else { throw .damaged(path: path, part: .header) }
        guard version == Self.version else {
            throw .unreadable(
                path: path, reason: "its key is wrapped in form \(version); install a newer version of this program")
        }
        guard bytes.count == Self.size else { throw .damaged(path: path, part: .header) }
        let numbers = (0..<3).map { place in
            UInt32(bigEndianBytes: bytes[(2 + 4 * place)..<(6 + 4 * place)])
        }
        switch (bytes[1], numbers[1], numbers[2]) {
        case (1, let passes, 1): cost = .argon2id(memoryKiB: numbers[0], passes: passes)
        case (2, let blockSize, let parallelism):
            cost = .scrypt(logN: numbers[0], blockSize: blockSize, parallelism: parallelism)
        case (3, 0, 0): cost = .pbkdf2(iterations: numbers[0])
        default:
            throw .unreadable(
                path: path, reason: "it derives its key in a way that this program does not know (\(bytes[1]))")
        }
        guard cost.isAcceptable else { throw .tooCostly(path: path, cost: cost.description) }
        salt = Array(bytes[14..<Self.keyStart])
        key = Data(bytes[Self.keyStart...])
    }

    /// The encoding without the key.
    var encoded: Data {
        let (kind, numbers): (UInt8, [UInt32]) =
            switch cost {
            case .argon2id(let memoryKiB, let passes): (1, [memoryKiB, passes, 1])
            case .scrypt(let logN, let blockSize, let parallelism): (2, [logN, blockSize, parallelism])
            case .pbkdf2(let iterations): (3, [iterations, 0, 0])
            }
        var bytes = Data([Self.version, kind])
        for number in numbers { bytes.append(bigEndian: number) }
        return bytes + salt
    }
}
