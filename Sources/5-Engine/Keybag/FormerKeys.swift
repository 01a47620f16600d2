import Bytes
import Crypto
import Enclave
import FoundationEssentials
import KeychainModel
import SecureMemory

/// The class keys from before each renewal, wrapped under the present key of the same class. They open what a renewal
/// cannot seal again, such as files outside the vault.
///
///     offset  bytes  field (integers big-endian)
///          0      8  magic "SKFORMER"
///          8      2  format version, 1
///         10     16  identifier of the present keybag
///         26      2  number of former keybags, the latest first
///         28      …  for each: identifier (16), number of entries (1), entries: class code (1), wrapped key (40)
///        end     32  HMAC-SHA256 over all before
package struct FormerKeys: Sendable {
    private struct Generation: Sendable {
        let keybag: UUID
        var wrappedKeys: ClassTable<Data>
    }

    /// The identifier of the keybag whose class keys wrap the others.
    package let keybag: UUID
    private var generations: [Generation] = []

    /// No former keys.
    package init(of keybag: UUID) { self.keybag = keybag }

    /// The identifiers of the former keybags, the latest first.
    package var keybags: [UUID] { generations.map(\.keybag) }

    /// Returns these and the keys of `keys`, wrapped under `next`.
    ///
    /// - Parameter keys: The class keys that wrap these. The vault has to be unlocked.
    /// - Throws: ``KeybagError/locked(_:)``; ``KeybagError/malformed(reason:)`` for more than 4,096 renewals.
    package func renewed(from keys: ClassKeys, to next: ClassKeys) throws(KeybagError) -> FormerKeys {
        guard generations.count < Self.maximumCount else {
            throw .malformed(
                reason: "its keys were renewed \(Self.maximumCount) times, and no more former keys can be kept")
        }
        return try wrapped([keys.keybag.identifier] + keybags, from: keys, under: next)
    }

    /// Returns these wrapped under `other`, for a keybag that is itself a former one.
    package func rewrapped(from keys: ClassKeys, under other: ClassKeys) throws(KeybagError) -> FormerKeys {
        try wrapped(keybags.filter { $0 != other.keybag.identifier }, from: keys, under: other)
    }

    /// Leaves out a former key that no present key opens: of the passcode-only class after the passcode was removed,
    /// and of the classes for this device only after a recovery.
    private func wrapped(
        _ keybags: [UUID], from keys: ClassKeys, under next: ClassKeys
    ) throws(KeybagError) -> FormerKeys {
        var result = FormerKeys(of: next.keybag.identifier)
        for keybag in keybags {
            var generation = Generation(keybag: keybag, wrappedKeys: ClassTable())
            for protection in ProtectionClass.allCases where keys.hasKey(for: protection) {
                guard next.hasKey(for: protection) else { continue }
                let former =
                    try keybag == keys.keybag.identifier
                    ? keys.classKey(for: protection) : key(of: protection, in: keybag, under: keys)
                guard let former else {
                    guard !RecoveryRecord.classes.contains(protection) else { throw .authenticationFailed }
                    continue
                }
                let wrapping = Self.wrappingKey(try next.classKey(for: protection), protection, keybag)
                guard let wrapped = try? AES.KeyWrap.wrap(former, using: wrapping) else {
                    throw .malformed(reason: "class key \(protection.rawValue) cannot be wrapped")
                }
                generation.wrappedKeys[protection] = wrapped
            }
            result.generations.append(generation)
        }
        return result
    }

    /// Returns a keybag without a passcode that has the class keys of a former one; nil if it is not here. Classes of
    /// which no former key is left get new ones.
    ///
    /// - Parameters:
    ///   - keys: The present class keys.
    ///   - enclave: Any enclave, for as long as the result is used.
    package func restored(
        _ keybag: UUID, under keys: ClassKeys, in enclave: any Enclave
    ) throws(KeybagError) -> Keybag? {
        guard keybags.contains(keybag) else { return nil }
        var recovered = ClassTable<LockedBytes>()
        for protection in ProtectionClass.allCases where keys.hasKey(for: protection) {
            guard let key = try key(of: protection, in: keybag, under: keys) else { continue }
            guard let locked = try? key.withUnsafeBytes({ try LockedBytes(copying: $0) }) else {
                throw .memoryUnavailable
            }
            recovered[protection] = locked
        }
        return try Keybag.restored(keybag, recovered, in: enclave, counter: nil, hasPlainStore: false)
    }

    /// Returns the class key that the vault had under a former keybag; nil if it is not here.
    ///
    /// - Parameter keys: The present class keys.
    /// - Throws: ``KeybagError/locked(_:)``.
    package func key(
        of protection: ProtectionClass, in keybag: UUID, under keys: ClassKeys
    ) throws(KeybagError) -> SymmetricKey? {
        guard let wrapped = generations.first(where: { $0.keybag == keybag })?.wrappedKeys[protection] else {
            return nil
        }
        defer { wipeRecentlyFreed(.derivation) }
        let wrapping = Self.wrappingKey(try keys.classKey(for: protection), protection, keybag)
        return try? AES.KeyWrap.unwrap(wrapped, using: wrapping)
    }

    private static func wrappingKey(
        _ classKey: SymmetricKey, _ protection: ProtectionClass, _ keybag: UUID
    ) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: classKey, salt: withUnsafeBytes(of: keybag.uuid) { Data($0) },
            info: Data("swift-keychain/v2/former-class-key/\(protection.rawValue)".utf8), outputByteCount: 32)
    }

    // MARK: Encoding

    /// - Parameter alwaysKey: The present class key of the 'always' class.
    package func encoded(under alwaysKey: SymmetricKey) -> Data {
        let body = body
        let code = HMAC<SHA256>.authenticationCode(for: body, using: Self.authenticationKey(from: alwaysKey))
        return body + Data(code)
    }

    private var body: Data {
        var encoded = Data(Self.magic + [0, 1])
        withUnsafeBytes(of: keybag.uuid) { encoded.append(contentsOf: $0) }
        encoded.append(bigEndian: UInt16(truncatingIfNeeded: generations.count))
        for generation in generations {
            withUnsafeBytes(of: generation.keybag.uuid) { encoded.append(contentsOf: $0) }
            encoded.append(UInt8(truncatingIfNeeded: generation.wrappedKeys.count))
            for (protection, wrapped) in generation.wrappedKeys.entries {
                encoded.append(protection.storedCode)
                encoded.append(wrapped)
            }
        }
        return encoded
    }

    /// - Throws: ``KeybagError/authenticationFailed`` if the record was changed or belongs to another keybag.
    package init(decoding encoded: Data, of keybag: UUID, under alwaysKey: SymmetricKey) throws(KeybagError) {
        let bytes = [UInt8](encoded)
        guard bytes.count >= Self.headerSize + Self.codeSize, bytes.starts(with: Self.magic) else {
            throw .malformed(reason: "not a record of former keys")
        }
        let version = UInt16(bigEndianBytes: bytes[8..<10])
        guard version == 1 else { throw .unknownVersion(version) }
        let end = bytes.count - Self.codeSize
        guard
            HMAC<SHA256>.isValidAuthenticationCode(
                bytes[end...], authenticating: bytes[..<end], using: Self.authenticationKey(from: alwaysKey)),
            Self.identifier(bytes[10..<26]) == keybag
        else { throw .authenticationFailed }
        self.init(of: keybag)
        var rest = bytes[Self.headerSize..<end]
        for _ in 0..<UInt16(bigEndianBytes: bytes[26..<28]) {
            guard rest.count >= 17 else { throw .malformed(reason: "\(bytes.count) bytes") }
            let (former, count) = (Self.identifier(rest.prefix(16)), Int(rest[rest.startIndex + 16]))
            rest = rest.dropFirst(17)
            guard rest.count >= count * Self.entrySize else { throw .malformed(reason: "\(bytes.count) bytes") }
            var wrappedKeys = ClassTable<Data>()
            for _ in 0..<count {
                guard let protection = ProtectionClass(storedCode: rest[rest.startIndex]) else {
                    throw .malformed(reason: "class code \(rest[rest.startIndex])")
                }
                wrappedKeys[protection] = Data(rest.dropFirst().prefix(Self.entrySize - 1))
                rest = rest.dropFirst(Self.entrySize)
            }
            generations.append(Generation(keybag: former, wrappedKeys: wrappedKeys))
        }
        // Entries that do not ascend, or of a class twice, and bytes behind the last one.
        guard body == Data(bytes[..<end]) else { throw .malformed(reason: "not as it is written") }
    }

    private static func identifier(_ bytes: ArraySlice<UInt8>) -> UUID {
        bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    private static func authenticationKey(from alwaysKey: SymmetricKey) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: alwaysKey, info: Data("swift-keychain/v2/former-keys".utf8), outputByteCount: 32)
    }

    private static let magic = [UInt8]("SKFORMER".utf8)
    private static let headerSize = 28
    private static let entrySize = 41
    private static let codeSize = 32
    /// The most former keybags in a record.
    package static let maximumCount = 4_096
    /// The largest size of the record in bytes.
    package static let largestEncoding = headerSize + maximumCount * (17 + 7 * entrySize) + codeSize
}
