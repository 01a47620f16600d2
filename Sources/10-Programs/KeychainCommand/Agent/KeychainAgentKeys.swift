import Certificates
import FoundationEssentials
import KeyCryptography
import KeychainModel
import SSHAgent
import StatusCodes
import VaultKeys

/// The keychain's private keys as an ssh-agent has them.
struct KeychainAgentKeys: AgentKeys {
    let prompt: AgentPrompt

    /// An agent may be started before there is a vault.
    private func session() throws(Failure) -> KeySession? {
        do {
            return try KeySession.forLooking(prompt: prompt)
        } catch {
            if error.status == errSecItemNotFound { return nil }
            throw error
        }
    }

    /// The keys that sign: those whose public half can be seen, however the vault is locked.
    func keys() throws(SSHAgentError) -> [(key: SSHPublicKey, comment: String)] {
        try refusing { () throws(Failure) in
            guard let session = try session() else { return [] }
            return try entries(session).map { ($0.key, $0.pair.name) }
        }
    }

    func sign(
        _ data: Data, with key: SSHPublicKey, _ algorithm: SSHSignatureAlgorithm, for purpose: SignaturePurpose,
        from asker: BoundHost?
    ) throws(SSHAgentError) -> Data {
        return try refusing { () throws(Failure) in
            guard let session = try session(), let pair = try entries(session).first(where: { $0.key == key })?.pair
            else { throw Failure(status: errSecItemNotFound, "the key that ssh asks for is gone") }
            let words = KnownHosts.ofUser.words(for: purpose, key: pair.name, from: asker)
            let privateKey = try session.privateKey(of: pair, AuthenticationOptions(prompt: words))
            return try session.result { () throws(KeyError) in
                try privateKey.sign(data, by: algorithm.keyAlgorithm)
            }
        }
    }

    private func entries(_ session: KeySession) throws(Failure) -> [(key: SSHPublicKey, pair: KeyPair)] {
        try session.inventory().pairs.compactMap { pair in
            guard pair.hasPrivateHalf, let data = key(of: pair, session)?.keyData else { return nil }
            return SSHPublicKey(data).map { ($0, pair) }
        }
    }

    /// The public key of a pair. Of a software key that was stored without it, the private one tells, unless that asks
    /// for a person.
    private func key(of pair: KeyPair, _ session: KeySession) -> VaultKey? {
        if let key = pair.publicKey { return key }
        guard case .found = pair.privateHalf else { return nil }
        return try? session.privateKey(of: pair, AuthenticationOptions(interaction: .skip)).publicKey
    }

    private func refusing<Result>(_ body: () throws(Failure) -> Result) throws(SSHAgentError) -> Result {
        do {
            return try body()
        } catch {
            // The protocol has no words for it; whoever runs the agent sees them.
            _ = error.report(asJSON: false)
            throw .refused(reason: error.message)
        }
    }
}

extension SSHSignatureAlgorithm {
    /// Signatures on curves as r and s, one after the other.
    fileprivate var keyAlgorithm: KeyAlgorithmName {
        let name: SignatureName =
            switch self {
            case .ecdsaP256: .ecdsaRawSHA256
            case .ecdsaP384: .ecdsaRawSHA384
            case .ecdsaP521: .ecdsaRawSHA512
            case .rsaSHA256: .pkcs1SHA256
            case .rsaSHA512: .pkcs1SHA512
            }
        return name.algorithm(isDigest: false)
    }
}
