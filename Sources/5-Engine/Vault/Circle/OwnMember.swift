import Bytes
import Circle
import Crypto
import FoundationEssentials
import Frames
import KeyCryptography
import Keybag
import KeychainModel
import PreparedKeys
import SecureMemory
import VaultInterface

/// The keys with which this vault is a member of a circle. Those that sign and agree stay in the enclave; none leaves
/// the device.
struct OwnMember: Sendable {
    let signing: EnclaveKeyRecord
    private let agreement: [KeyClass: EnclaveKeyRecord]
    /// The seeds of the hybrid keys, each sealed under its class key.
    private let hybrid: [KeyClass: Data]
    /// The public halves.
    let keys: MemberKeys

    /// Makes the keys of a new member. The vault is unlocked.
    init(madeIn keybag: OpenedKeybag) throws {
        signing = try VaultEnclaveKeys.makeUnguarded(.p256Signing, .afterFirstUnlockThisDeviceOnly, in: keybag)
        var (agreement, hybrid, pairs): ([KeyClass: EnclaveKeyRecord], [KeyClass: Data], [KeyClass: MemberKeys.Pair]) =
            ([:], [:], [:])
        for keyClass in KeyClass.allCases {
            let key = try VaultEnclaveKeys.makeUnguarded(.p256KeyAgreement, keyClass.protection, in: keybag)
            let seed = SymmetricKey(size: .bits256)
            let hybridKey = try seed.withUnsafeBytes {
                try XWingMLKEM768X25519.PrivateKey(seedRepresentation: Data($0), publicKey: nil)
            }
            agreement[keyClass] = key
            hybrid[keyClass] = try keybag.sealForCircle(seed, as: Self.purpose, keyClass)
            pairs[keyClass] = try MemberKeys.Pair(
                agreement: key.publicKey, hybrid: hybridKey.publicKey.rawRepresentation)
        }
        guard let whileUnlocked = pairs[.whileUnlocked], let afterFirstUnlock = pairs[.afterFirstUnlock] else {
            throw Self.malformed
        }
        keys = try MemberKeys(
            signing: signing.publicKey, whileUnlocked: whileUnlocked, afterFirstUnlock: afterFirstUnlock)
        (self.agreement, self.hybrid) = (agreement, hybrid)
    }

    private static let purpose = "hybrid key"
    private static let malformed = VaultError.corruptVault(reason: "what makes it a member of a circle is damaged")

    /// The keys in the enclave: that which signs, and those that agree, first that for the time while unlocked.
    var enclaveKeys: [EnclaveKeyRecord] {
        [signing, agreement[.whileUnlocked], agreement[.afterFirstUnlock]].compactMap(\.self)
    }

    // MARK: Storing

    /// Six parts with their lengths (4): the signing key, the agreement keys, the sealed seeds, the public keys.
    var encoded: Data {
        let buffer = FrameBuffer()
        let seeds = [hybrid[.whileUnlocked], hybrid[.afterFirstUnlock]].compactMap(\.self)
        for part in enclaveKeys.map(\.encoded) + seeds + [keys.encoded] {
            part.withUnsafeBytes { buffer.append(counted: $0) }
        }
        return Data(buffer.bytes)
    }

    init(decoding encoded: Data) throws {
        var reader = FrameReader(FrameBuffer(encoded))
        do {
            let parts = try (0..<6).map { _ in Data(try reader.counted(limit: EnclaveKeyRecord.mostBytes)) }
            try reader.finish()
            guard let signing = EnclaveKeyRecord(decoding: parts[0]),
                let whileUnlocked = EnclaveKeyRecord(decoding: parts[1]),
                let afterFirstUnlock = EnclaveKeyRecord(decoding: parts[2])
            else { throw Self.malformed }
            self.signing = signing
            agreement = [.whileUnlocked: whileUnlocked, .afterFirstUnlock: afterFirstUnlock]
            hybrid = [.whileUnlocked: parts[3], .afterFirstUnlock: parts[4]]
            keys = try MemberKeys(decoding: parts[5])
        } catch is FrameError {
            throw Self.malformed
        } catch is CircleError {
            throw Self.malformed
        }
    }

    // MARK: Using

    /// What signs for this member.
    func signer(in keybag: OpenedKeybag) -> CircleSigner {
        { digest in
            guard let signature = try VaultEnclaveKeys.useUnguarded(signing, for: .sign(digest: digest), in: keybag)
            else {
                throw Self.malformed
            }
            return signature
        }
    }

    /// What opens keys that were sealed for this member.
    ///
    /// - Throws: ``KeybagError/locked(_:)``.
    func secrets(_ keyClass: KeyClass, in keybag: OpenedKeybag) throws -> MemberSecrets<P256AgreementKey> {
        guard let record = agreement[keyClass], let sealed = hybrid[keyClass] else { throw Self.malformed }
        let seed = try keybag.openForCircle(sealed, as: Self.purpose, keyClass)
        let key = try P256AgreementKey(publicKey: record.publicKey) { point in
            guard let x = try VaultEnclaveKeys.useUnguarded(record, for: .agree(with: point), in: keybag) else {
                throw Self.malformed
            }
            return x
        }
        return try seed.withUnsafeBytes {
            try MemberSecrets(agreement: key, hybrid: .wipedWhenFreed(copying: $0))
        }
    }
}

extension KeyClass {
    /// The class of the vault under which keys of a circle are kept: a backup that is restored on another device is no
    /// second member with the same keys.
    var protection: ProtectionClass {
        switch self {
        case .whileUnlocked: .whenUnlockedThisDeviceOnly
        case .afterFirstUnlock: .afterFirstUnlockThisDeviceOnly
        }
    }
}

/// Secrets of a circle, sealed under class keys of the vault: AES-256-GCM under HKDF(class key,
/// "swift-keychain/v1/circle"), as nonce ‖ key ‖ tag; the additional data is what the secret is.
extension OpenedKeybag {
    func sealForCircle(_ secret: SymmetricKey, as purpose: String, _ keyClass: KeyClass) throws -> Data {
        let key = Self.circleKey(from: try keys.classKey(for: keyClass.protection))
        var text = secret.withUnsafeBytes { Data($0) }
        defer { text.wipe() }
        return try SealedText.seal(text, under: key, binding: Data(purpose.utf8))
    }

    /// - Throws: ``KeybagError/locked(_:)``, and ``VaultError/corruptVault(reason:)`` if no class key of this vault,
    ///   now or formerly, opens it.
    func openForCircle(_ sealed: Data, as purpose: String, _ keyClass: KeyClass) throws -> SymmetricKey {
        let secret = try opened(by: keyClass.protection) { classKey -> SymmetricKey? in
            let key = Self.circleKey(from: classKey)
            guard
                var text = try? SealedText.open(sealed, under: key, binding: Data(purpose.utf8), of: purpose)
            else { return nil }
            defer { text.wipe() }
            return SymmetricKey(data: text)
        }
        guard let secret else {
            throw VaultError.corruptVault(
                reason:
                    "this device cannot open its keys of the circle: the vault came from another one. Leave the circle "
                    + "here with `keychain circle leave --only-here`, and join it again")
        }
        return secret
    }

    private static func circleKey(from classKey: SymmetricKey) -> SymmetricKey {
        classKey.withUnsafeBytes { KeyDerivation.key(from: $0, info: Array("swift-keychain/v1/circle".utf8)) }
    }
}
