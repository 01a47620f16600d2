import Access
import Attestation
import Bytes
import Crypto
import Enclave
import FoundationEssentials
import Keybag
import KeychainModel
import Sealing
import SecureMemory
import VaultInterface

/// Makes and uses keys of the enclave. The vault stores none of them.
struct VaultEnclaveKeys: EnclaveKeyKeeping {
    let vault: OpenedVault
    let gate: VaultGate

    func make(_ operation: MakeEnclaveKey, as client: Client) throws(VaultError) -> EnclaveKeyRecord {
        let accessControl = operation.accessControl
        let authorization = try gate.authorize(
            AccessRequest(.makeKey, itemClass: .key), as: client, recordedAs: .written)
        return try gate.run(authorization, asking: operation.options) { presence in
            guard accessControl.flags.map(AccessControl.isValid) ?? true else {
                throw VaultError.invalidRequest(reason: "an access control with flags that exclude each other")
            }
            return try vault.withKeybag { keybag in
                let classKey = try keybag.keys.classKey(for: accessControl.protection)
                let factors =
                    accessControl.isSealedFurther
                    ? try presence.factors(for: accessControl, hasValue: true, insteadOf: nil, classKey: classKey)
                    : nil
                return try Self.makeKey(
                    operation.kind, accessControl, factors, under: factors?.wrappingKey ?? classKey,
                    in: keybag.keys.enclave)
            }
        }
    }

    func use(_ operation: UseEnclaveKey, as client: Client) throws(VaultError) -> Data {
        let key = operation.key
        let authorization = try gate.authorize(
            AccessRequest(.useKey, itemClass: .key), as: client, recordedAs: .used)
        return try gate.run(authorization, asking: operation.options) { presence in
            try vault.withKeybag { keybag in
                let protection = key.accessControl.protection
                // Before anybody is asked: a locked vault says so.
                let present = try keybag.keys.classKey(for: protection)
                let header = try Self.header(of: key)
                if operation.operation == .recognize {
                    guard header == nil else {
                        throw VaultError.unsupported(reason: "a key with further factors is recognized by its use")
                    }
                    try Self.recognize(key, in: keybag)
                    return Data()
                }
                // The key was made under the present class key or a former one; the record does not say which.
                let isPermitted = try presence.permits(key.accessControl, header) {
                    let enrolled = try header?.enrolment.flatMap { enrolment in
                        try keybag.opened(by: protection) { classKey in
                            try presence.matchesEnrolment(enrolment, classKey: classKey) ? classKey : nil
                        }
                    }
                    return enrolled ?? present
                }
                guard isPermitted else {
                    throw VaultError.interactionNotAllowed(reason: "the key needs a person, and none may be asked")
                }
                let keyKey = try keybag.opened(by: protection) { classKey in
                    let keyKey = try header.map { try presence.wrappingKey(for: $0, classKey: classKey) } ?? classKey
                    let tag = EnclaveKeyDerivation.tag(of: key, under: keyKey)
                    return isEqualInConstantTime(tag, key.tag) ? keyKey : nil
                }
                guard let keyKey else {
                    // A wrong password and a changed record look the same, as they should.
                    if header?.password != nil { throw VaultError.authenticationFailed }
                    throw Self.foreign("it was changed, or is another vault's")
                }
                return try Self.compute(
                    operation.operation, with: key,
                    authorization: EnclaveKeyDerivation.authorization(of: key, under: keyKey),
                    in: keybag.keys.enclave)
            }
        }
    }

    /// Uses a key that needs nothing but its class key. It does not check the client. The caller has found the record
    /// in an item, through the gate, which has checked the client and recorded the use.
    ///
    /// - Returns: Nil for a key that needs a person or an application password.
    func useUnguarded(_ key: EnclaveKeyRecord, for operation: EnclaveKeyOperation) throws(VaultError) -> Data? {
        do {
            return try vault.withKeybag { try Self.useUnguarded(key, for: operation, in: $0) }
        } catch {
            throw VaultError(error)
        }
    }

    static func useUnguarded(
        _ key: EnclaveKeyRecord, for operation: EnclaveKeyOperation, in keybag: OpenedKeybag
    ) throws -> Data? {
        guard key.accessControl.flags == nil, key.factors.isEmpty else { return nil }
        let classKey = try keybag.opened(by: key.accessControl.protection) { classKey in
            isEqualInConstantTime(EnclaveKeyDerivation.tag(of: key, under: classKey), key.tag) ? classKey : nil
        }
        guard let classKey else { throw foreign("it was changed, or is another vault's") }
        return try compute(
            operation, with: key, authorization: EnclaveKeyDerivation.authorization(of: key, under: classKey),
            in: keybag.keys.enclave)
    }

    /// Makes a key that needs nothing but its class key. It does not check the client.
    static func makeUnguarded(
        _ kind: EnclaveKeyKind, _ protection: ProtectionClass, in keybag: OpenedKeybag
    ) throws -> EnclaveKeyRecord {
        try makeKey(
            kind, AccessControl(protection: protection), nil, under: keybag.keys.classKey(for: protection),
            in: keybag.keys.enclave)
    }

    /// Fails if this vault did not make the record, or if it was changed.
    private static func recognize(_ key: EnclaveKeyRecord, in keybag: OpenedKeybag) throws {
        let found = try keybag.opened(by: key.accessControl.protection) { classKey in
            isEqualInConstantTime(EnclaveKeyDerivation.tag(of: key, under: classKey), key.tag) ? true : nil
        }
        guard found == true else { throw foreign("it was changed, or is another vault's") }
    }

    /// The record is the client's, and so is the fault: the vault is whole.
    private static func foreign(_ reason: String) -> VaultError {
        .invalidRequest(
            reason: "this is no key of this vault's enclave (\(reason)); take the key's data as it was made")
    }

    private static func header(of key: EnclaveKeyRecord) throws -> SealHeader? {
        guard !key.factors.isEmpty else {
            // Without its factors a key would open with less than its access control demands.
            guard !key.accessControl.isSealedFurther else {
                throw foreign("it lacks what its access control asks for")
            }
            return nil
        }
        do throws(SealingError) {
            return try SealHeader(decoding: [UInt8](key.factors))
        } catch {
            throw foreign("it is malformed: \(error.reason)")
        }
    }

    private static func makeKey(
        _ kind: EnclaveKeyKind, _ accessControl: AccessControl, _ factors: SealingFactors?, under key: SymmetricKey,
        in enclave: any Enclave
    ) throws -> EnclaveKeyRecord {
        let salt = SymmetricKey(size: .bits128).withUnsafeBytes { Data($0) }
        var record = EnclaveKeyRecord(
            kind: kind, accessControl: accessControl, salt: salt, factors: Data(factors?.header.encoded ?? []),
            publicKey: Data(), blob: Data(), tag: Data())
        let authorization = EnclaveKeyDerivation.authorization(of: record, under: key)
        if let uses = kind.uses {
            let blob = try enclave.createKey(for: uses, authorization: authorization)
            record.publicKey = try enclave.publicKey(of: blob)
            record.blob = blob.encoded()
        } else {
            let seed = try LockedBytes.random(count: PostQuantumKey.seedSize(of: kind))
            record.publicKey = try PostQuantumKey.publicKey(of: kind, seed: seed)
            record.blob = try enclave.seal(seed, authorization: authorization).encoded()
        }
        record.tag = EnclaveKeyDerivation.tag(of: record, under: key)
        return record
    }

    private static func compute(
        _ operation: EnclaveKeyOperation, with key: EnclaveKeyRecord, authorization: SymmetricKey,
        in enclave: any Enclave
    ) throws -> Data {
        let blob = try EnclaveBlob(decoding: key.blob)
        switch operation {
        case .sign(let digest) where key.kind.uses?.contains(.signing) == true:
            return try enclave.sign(digest: digest, with: blob, authorization: authorization)
        case .agree(let peer) where key.kind.uses?.contains(.keyAgreement) == true:
            let secret = try enclave.sharedSecret(with: peer, using: blob, authorization: authorization)
            return secret.withUnsafeBytes { Data.wipedWhenFreed(Data($0)) }
        case .decapsulate(let capsule) where key.kind == .mlkem768 || key.kind == .mlkem1024:
            let seed = try enclave.unseal(blob, authorization: authorization)
            return try PostQuantumKey.decapsulate(capsule, key.kind, seed: seed)
        case .signMessage(let message, let context) where key.kind == .mldsa65 || key.kind == .mldsa87:
            let seed = try enclave.unseal(blob, authorization: authorization)
            return try PostQuantumKey.signature(of: message, context: context, key.kind, seed: seed)
        case .attest(let nonce) where key.kind.isComputedInside:
            guard enclave.kind == .tpm2 else {
                throw VaultError.unsupported(
                    reason:
                        "the vault's enclave is \(enclave.kind.name), which cannot attest keys: make the key in "
                        + "a vault in a TPM 2.0 (keychain init --enclave tpm2)")
            }
            guard KeyAttestation.nonceSizes.contains(nonce.count) else {
                throw VaultError.invalidRequest(
                    reason: "a nonce of \(nonce.count) bytes: give \(KeyAttestation.nonceSizes.lowerBound) to "
                        + "\(KeyAttestation.nonceSizes.upperBound)")
            }
            return try enclave.attest(blob, nonce: nonce, authorization: authorization).encoded
        default:
            throw VaultError.unsupported(reason: "the enclave's key is not made for this use")
        }
    }
}

extension EnclaveKeyKind {
    /// The uses of the key inside the enclave; nil if the enclave only seals the seed.
    fileprivate var uses: EnclaveKeyUses? {
        switch self {
        case .p256Signing: .signing
        case .p256KeyAgreement: .keyAgreement
        case .p256: [.signing, .keyAgreement]
        case .mlkem768, .mlkem1024, .mldsa65, .mldsa87: nil
        }
    }
}

/// What guards a key of the enclave, derived from the key that opens its protection class and its factors (HKDF-SHA256,
/// RFC 5869).
enum EnclaveKeyDerivation {
    /// What the enclave asks for at each use; bound to all that was decided before the key was made, so that a key
    /// whose access control was changed does not open.
    static func authorization(of record: EnclaveKeyRecord, under key: SymmetricKey) -> SymmetricKey {
        derive(from: key, record, Data("swift-keychain/v1/enclave-key/authorization".utf8) + record.head)
    }

    /// The first 16 bytes of HMAC-SHA256 (RFC 2104) over the record.
    static func tag(of record: EnclaveKeyRecord, under key: SymmetricKey) -> Data {
        let tagKey = derive(from: key, record, Data("swift-keychain/v1/enclave-key/record".utf8))
        return Data(HMAC<SHA256>.authenticationCode(for: record.body, using: tagKey)).prefix(EnclaveKeyRecord.tagSize)
    }

    private static func derive(from key: SymmetricKey, _ record: EnclaveKeyRecord, _ info: Data) -> SymmetricKey {
        defer { wipeRecentlyFreed(.derivation) }
        return HKDF<SHA256>.deriveKey(inputKeyMaterial: key, salt: record.salt, info: info, outputByteCount: 32)
    }
}
