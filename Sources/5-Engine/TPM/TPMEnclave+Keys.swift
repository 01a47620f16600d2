import CTSS2
import Crypto
import Enclave
import FoundationEssentials
import SecureMemory

/// Keys and sealed secrets under the vault's storage key. The TPM does not count wrong authorizations for them, and
/// they work during a lockout, because a key guards them that nobody can guess.
extension TPMEnclave {
    package func createKey(
        for uses: EnclaveKeyUses, authorization: SymmetricKey
    ) throws(EnclaveError) -> EnclaveBlob {
        guard let content = uses.content else { throw .refused(reason: "a key needs a use") }
        let template = Template.key(signs: uses.contains(.signing), agrees: uses.contains(.keyAgreement))
        return try make(template, content, authorization, secret: nil)
    }

    package func seal(_ secret: LockedBytes, authorization: SymmetricKey) throws(EnclaveError) -> EnclaveBlob {
        guard secret.count <= EnclaveLimits.sealedSize else {
            throw .refused(reason: "an enclave seals at most \(EnclaveLimits.sealedSize) bytes")
        }
        return try make(Template.sealed, .sealed, authorization, secret: secret)
    }

    private func make(
        _ template: TPM2B_PUBLIC, _ content: EnclaveBlob.Content, _ authorization: SymmetricKey, secret: LockedBytes?
    ) throws(EnclaveError) -> EnclaveBlob {
        let body = try using { context, parent in
            var sensitive = TPM2B_SENSITIVE_CREATE()
            defer { wipeValue(&sensitive) }
            sensitive.set(authorization, secret)
            return try context.make(template, &sensitive, under: parent).encoded
        }
        return EnclaveBlob(enclave: .tpm2, content: content, body: body)
    }

    package func publicKey(of key: EnclaveBlob) throws(EnclaveError) -> Data {
        try key.check(madeBy: .tpm2, for: [])
        do {
            let object = try ObjectBlob(decoding: key.body, TSS.loaded.get())
            guard let point = object.point else { throw EnclaveError.damagedBlob(reason: "its public key is invalid") }
            return point
        } catch let error as EnclaveError {
            throw error
        } catch {
            throw .unavailable(reason: "\(error)")
        }
    }

    package func sign(
        digest: Data, with key: EnclaveBlob, authorization: SymmetricKey
    ) throws(EnclaveError) -> Data {
        try key.check(madeBy: .tpm2, for: .signing)
        let digest = P256Digest(digest).withUnsafeBytes { Data($0) }
        return try using(key, authorization) { context, object, session throws(TSSError) in
            try session.signature(of: digest, key: object, in: context)
        }
    }

    package func sharedSecret(
        with peer: Data, using key: EnclaveBlob, authorization: SymmetricKey
    ) throws(EnclaveError) -> LockedBytes {
        try key.check(madeBy: .tpm2, for: .keyAgreement)
        guard (try? P256.KeyAgreement.PublicKey(x963Representation: peer)) != nil else { throw .invalidPublicKey }
        return try using(key, authorization) { context, object, session throws(TSSError) in
            try session.product(with: peer, key: object, in: context)
        }
    }

    package func unseal(_ blob: EnclaveBlob, authorization: SymmetricKey) throws(EnclaveError) -> LockedBytes {
        try blob.check(madeBy: .tpm2, for: nil)
        return try using(blob, authorization) { context, object, session throws(TSSError) in
            try session.unsealed(object, in: context)
        }
    }

    func using<Result: Sendable>(
        _ blob: EnclaveBlob, _ authorization: SymmetricKey,
        _ body: @escaping @Sendable (TPMContext, LoadedObject, KeySession) throws(TSSError) -> Result
    ) throws(EnclaveError) -> Result {
        let encoded = blob.body
        return try using { context, parent in
            let object = try ObjectBlob(decoding: encoded, context.tss)
            // With a blob that the TPM guards in place of this one, an attacker could cause a lockout.
            guard !object.isGuarded else { throw EnclaveError.damagedBlob(reason: "not one of this enclave's") }
            return try context.using(object, under: parent, authorization: authorization) {
                object, session throws(TSSError) in try body(context, object, session)
            }
        }
    }
}
