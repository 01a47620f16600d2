import Attestation
import Crypto
import FoundationEssentials
import SecureMemory

/// The software enclave's P-256 keys and secrets. They are sealed with a key that is derived from the device secret and
/// the authorization.
///
///     body of a key      public key (65) ‖ salt (32) ‖ nonce (12) ‖ sealed private key (32) ‖ tag (16)
///     body of a secret   salt (32) ‖ nonce (12) ‖ sealed secret ‖ tag (16)
extension SoftwareEnclave {
    package func createKey(
        for uses: EnclaveKeyUses, authorization: SymmetricKey
    ) throws(EnclaveError) -> EnclaveBlob {
        guard let content = uses.content else { throw .refused(reason: "a key needs a use") }
        let key = P256.Signing.PrivateKey()
        let publicKey = key.publicKey.x963Representation
        var scalar = key.rawRepresentation
        defer { scalar.wipe() }
        let box = try sealed(scalar, content, binding: publicKey, authorization)
        return EnclaveBlob(enclave: .software, content: content, body: publicKey + box)
    }

    package func publicKey(of key: EnclaveBlob) throws(EnclaveError) -> Data {
        try key.check(madeBy: .software, for: [])
        let point = key.body.prefix(Self.pointSize)
        guard key.body.count == Self.keySize, (try? P256.Signing.PublicKey(x963Representation: point)) != nil else {
            throw .damagedBlob(reason: "its public key is invalid")
        }
        return Data(point)
    }

    package func sign(
        digest: Data, with key: EnclaveBlob, authorization: SymmetricKey
    ) throws(EnclaveError) -> Data {
        try key.check(madeBy: .software, for: .signing)
        let digest = P256Digest(digest)
        return try usingScalar(of: key, authorization) { scalar in
            try P256.Signing.PrivateKey(rawRepresentation: scalar).signature(for: digest).rawRepresentation
        }
    }

    package func sharedSecret(
        with peer: Data, using key: EnclaveBlob, authorization: SymmetricKey
    ) throws(EnclaveError) -> LockedBytes {
        try key.check(madeBy: .software, for: .keyAgreement)
        guard let peer = try? P256.KeyAgreement.PublicKey(x963Representation: peer) else { throw .invalidPublicKey }
        return try usingScalar(of: key, authorization) { scalar in
            let product = try P256.KeyAgreement.PrivateKey(rawRepresentation: scalar).sharedSecretFromKeyAgreement(
                with: peer)
            return try product.withUnsafeBytes { try LockedBytes(copying: $0) }
        }
    }

    package func attest(
        _ key: EnclaveBlob, nonce: Data, authorization: SymmetricKey
    ) throws(EnclaveError) -> KeyAttestation {
        throw .refused(reason: "only a TPM can prove that it made a key: keep the vault in one (--enclave tpm2)")
    }

    package func seal(_ secret: LockedBytes, authorization: SymmetricKey) throws(EnclaveError) -> EnclaveBlob {
        guard secret.count <= EnclaveLimits.sealedSize else {
            throw .refused(reason: "an enclave seals at most \(EnclaveLimits.sealedSize) bytes")
        }
        var bytes = secret.withUnsafeBytes { Data($0) }
        defer { bytes.wipe() }
        return EnclaveBlob(
            enclave: .software, content: .sealed, body: try sealed(bytes, .sealed, binding: Data(), authorization))
    }

    package func unseal(_ blob: EnclaveBlob, authorization: SymmetricKey) throws(EnclaveError) -> LockedBytes {
        try blob.check(madeBy: .software, for: nil)
        var bytes = try opened(blob.body, .sealed, binding: Data(), authorization)
        defer { bytes.wipe() }
        do {
            return try bytes.withUnsafeBytes { try LockedBytes(copying: $0) }
        } catch {
            throw .memoryUnavailable
        }
    }

    private func usingScalar<Result>(
        of key: EnclaveBlob, _ authorization: SymmetricKey, _ body: (Data) throws -> Result
    ) throws(EnclaveError) -> Result {
        let publicKey = try publicKey(of: key)
        var scalar = try opened(key.body.dropFirst(Self.pointSize), key.content, binding: publicKey, authorization)
        defer { scalar.wipe() }
        do {
            return try body(scalar)
        } catch {
            throw .damagedBlob(reason: "its private key is invalid")
        }
    }

    private func sealed(
        _ secret: Data, _ content: EnclaveBlob.Content, binding: Data, _ authorization: SymmetricKey
    ) throws(EnclaveError) -> Data {
        let salt = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }
        let key = sealingKey(salt, authorization)
        defer { wipeRecentlyFreed(.cipher) }
        let box = try? AES.GCM.seal(secret, using: key, authenticating: Self.header(content) + binding)
        guard let combined = box?.combined else { throw .memoryUnavailable }
        return salt + combined
    }

    private func opened(
        _ sealed: Data, _ content: EnclaveBlob.Content, binding: Data, _ authorization: SymmetricKey
    ) throws(EnclaveError) -> Data {
        guard sealed.count > Self.saltSize, let box = try? AES.GCM.SealedBox(combined: sealed.dropFirst(Self.saltSize))
        else { throw .damagedBlob(reason: "only \(sealed.count) bytes") }
        let key = sealingKey(Data(sealed.prefix(Self.saltSize)), authorization)
        defer { wipeRecentlyFreed(.cipher) }
        // A changed blob and a wrong authorization cannot be told apart here.
        guard let secret = try? AES.GCM.open(box, using: key, authenticating: Self.header(content) + binding) else {
            throw .wrongAuthorization
        }
        return secret
    }

    private func sealingKey(_ salt: Data, _ authorization: SymmetricKey) -> SymmetricKey {
        authorization.withUnsafeBytes {
            deriveKey(tangling: $0, salt: salt, context: "swift-keychain/v1/enclave-blob")
        }
    }

    private static func header(_ content: EnclaveBlob.Content) -> Data {
        EnclaveBlob(enclave: .software, content: content, body: Data()).header
    }

    private static let pointSize = 65
    private static let saltSize = 32
    private static let keySize = pointSize + saltSize + 12 + 32 + 16
}
