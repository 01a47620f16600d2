import Bytes
import Crypto
import Enclave
import FoundationEssentials
import KeychainModel
import SecureMemory

/// The class keys that a recovery key can unwrap after the loss of the enclave: those of the classes that may leave the
/// device.
///
///     offset  bytes  field (integers big-endian)
///          0      8  magic "SKRECOVR"
///          8      2  format version, 1
///         10     16  identifier of the keybag
///         26     32  salt
///         58      1  number of entries
///         59   41*n  entries: class code, 40 bytes of wrapped key; ascending by class code
///        end     32  HMAC-SHA256 over all before
package struct RecoveryRecord: Sendable, Equatable {
    /// The identifier of the keybag.
    package let keybag: UUID
    private let salt: Data
    private let wrappedKeys: ClassTable<Data>

    /// The classes whose items survive the loss of a device.
    package static let classes: [ProtectionClass] = [.whenUnlocked, .afterFirstUnlock, .always]

    /// Wraps the class keys with a new recovery key.
    ///
    /// - Throws: ``KeybagError/locked(_:)`` unless the vault is unlocked.
    package static func make(of keys: ClassKeys, under key: RecoveryKey) throws(KeybagError) -> RecoveryRecord {
        let salt = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }
        var wrapped = ClassTable<Data>()
        for protection in classes {
            let classKey = try keys.classKey(for: protection)
            guard let box = try? AES.KeyWrap.wrap(classKey, using: key.wrappingKey(for: protection, salt: salt)) else {
                throw .malformed(reason: "class key \(protection.rawValue) cannot be wrapped")
            }
            wrapped[protection] = box
        }
        return RecoveryRecord(keybag: keys.keybag.identifier, salt: salt, wrappedKeys: wrapped)
    }

    /// Returns a keybag without a passcode for another enclave, with the recovered keys and new ones for the other
    /// classes.
    ///
    /// - Parameters:
    ///   - counter: See ``Freshness``; nil for a keybag without.
    ///   - hasPlainStore: Whether the item store is still the plain one of the format before.
    package func restored(
        in enclave: any Enclave, with key: RecoveryKey, counter: RollbackCounter? = nil, hasPlainStore: Bool = false
    ) throws(KeybagError) -> Keybag {
        var recovered = ClassTable<LockedBytes>()
        for (protection, wrapped) in wrappedKeys.entries {
            let wrapping = key.wrappingKey(for: protection, salt: salt)
            guard let classKey = try? AES.KeyWrap.unwrap(wrapped, using: wrapping) else { throw .authenticationFailed }
            guard let locked = try? classKey.withUnsafeBytes({ try LockedBytes(copying: $0) }) else {
                throw .memoryUnavailable
            }
            recovered[protection] = locked
        }
        return try Keybag.restored(
            keybag, recovered, in: enclave, counter: counter, hasPlainStore: hasPlainStore)
    }

    package func encoded(under key: RecoveryKey) -> Data {
        var encoded = Data(Self.magic + [0, 1])
        withUnsafeBytes(of: keybag.uuid) { encoded.append(contentsOf: $0) }
        encoded += salt + [UInt8(truncatingIfNeeded: wrappedKeys.count)]
        for (protection, wrapped) in wrappedKeys.entries {
            encoded.append(protection.storedCode)
            encoded.append(wrapped)
        }
        let code = HMAC<SHA256>.authenticationCode(for: encoded, using: key.authenticationKey(salt: salt))
        return encoded + Data(code)
    }

    /// - Throws: ``KeybagError/wrongRecoveryKey`` if `key` is wrong or the record was changed.
    package init(decoding encoded: Data, with key: RecoveryKey) throws(KeybagError) {
        let bytes = [UInt8](encoded)
        guard bytes.count >= Self.headerSize + Self.codeSize, bytes.starts(with: Self.magic) else {
            throw .malformed(reason: "not a recovery record")
        }
        let version = UInt16(bigEndianBytes: bytes[8..<10])
        guard version == 1 else { throw .unknownVersion(version) }
        let count = Int(bytes[58])
        let end = Self.headerSize + count * Self.entrySize
        guard bytes.count == end + Self.codeSize else { throw .malformed(reason: "\(bytes.count) bytes") }
        salt = Data(bytes[26..<58])
        guard
            HMAC<SHA256>.isValidAuthenticationCode(
                bytes[end...], authenticating: bytes[..<end], using: key.authenticationKey(salt: salt))
        else { throw .wrongRecoveryKey }
        keybag = bytes[10..<26].withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        var wrapped = ClassTable<Data>()
        for index in 0..<count {
            let start = Self.headerSize + index * Self.entrySize
            guard let protection = ProtectionClass(storedCode: bytes[start]), Self.classes.contains(protection) else {
                throw .malformed(reason: "class code \(bytes[start])")
            }
            wrapped[protection] = Data(bytes[(start + 1)..<(start + Self.entrySize)])
        }
        wrappedKeys = wrapped
    }

    /// Returns the identifier in a record that nobody has opened; nil if `encoded` does not begin as a record.
    package static func keybag(of encoded: Data) -> UUID? {
        let bytes = [UInt8](encoded)
        guard bytes.count >= headerSize, bytes.starts(with: magic) else { return nil }
        return bytes[10..<26].withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    private init(keybag: UUID, salt: Data, wrappedKeys: ClassTable<Data>) {
        self.keybag = keybag
        self.salt = salt
        self.wrappedKeys = wrappedKeys
    }

    private static let magic = [UInt8]("SKRECOVR".utf8)
    private static let headerSize = 59
    private static let entrySize = 41
    private static let codeSize = 32
    /// The largest size of the record in bytes.
    package static let largestEncoding = headerSize + 255 * entrySize + codeSize
}
