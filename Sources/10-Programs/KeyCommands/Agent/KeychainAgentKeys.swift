import CommandKit
import FoundationEssentials
import KeyCryptography
import KeychainModel
import Presence
import SSHAgent
import StatusCodes
import VaultKeys

/// Serves the keychain's private keys to the clients of an ssh-agent.
struct KeychainAgentKeys: AgentKeys {
    let prompt: WithdrawablePrompt<StandardPrompt>
    /// What clients may have signed; nil for everything.
    let rules: [AgentRule]?

    /// Returns nil if there is no vault: an agent may be started before one is made.
    private func session() throws -> KeyCommandSession? {
        do {
            return try KeyCommandSession.forLooking(prompt: prompt)
        } catch let failure as Failure where failure.status == errSecItemNotFound {
            return nil
        }
    }

    /// Returns the keys that have a private half and a readable public key, also while the vault is locked.
    func keys() throws(SSHAgentError) -> [(key: SSHPublicKey, comment: String)] {
        try refusing {
            guard let session = try session() else { return [] }
            return try entries(session).map { ($0.key, $0.pair.name) }.filter { _, name in
                rules?.contains { $0.isAbout(key: name) } ?? true
            }
        }
    }

    func sign(
        _ data: Data, with key: SSHPublicKey, _ algorithm: SSHSignatureAlgorithm, for purpose: SignaturePurpose,
        from asker: BoundHost?
    ) throws(SSHAgentError) -> Data {
        try refusing {
            guard let session = try session(), let pair = try entries(session).first(where: { $0.key == key })?.pair
            else {
                throw Failure(
                    status: errSecItemNotFound,
                    "the key that ssh asks for is gone: `keychain key list` shows what there is")
            }
            let words = KnownHosts.ofUser.words(for: purpose, key: pair.name, from: asker)
            guard rules?.contains(where: { $0.allows(purpose, with: pair.name, from: asker) }) ?? true else {
                throw Failure(status: errSecInteractionNotAllowed, "no --allow lets a program \(words)")
            }
            let privateKey = try session.privateKey(of: pair, AuthenticationOptions(prompt: words))
            return try session.result {
                try privateKey.sign(data, by: algorithm.keyAlgorithm)
            }
        }
    }

    private func entries(_ session: KeyCommandSession) throws -> [(key: SSHPublicKey, pair: KeyPair)] {
        try session.inventory().sortedPairs.compactMap { pair in
            guard pair.hasPrivateHalf, let data = key(of: pair, session)?.keyData else { return nil }
            return SSHPublicKey(data).map { ($0, pair) }
        }
    }

    /// Returns the public key of a pair. If only the private half of a software key was stored, that half tells it,
    /// unless it needs a person.
    private func key(of pair: KeyPair, _ session: KeyCommandSession) -> VaultKey? {
        if let key = pair.publicKey { return key }
        guard case .found = pair.privateHalf else { return nil }
        return try? session.privateKey(of: pair, AuthenticationOptions(interaction: .skip)).publicKey
    }

    private func refusing<Result>(_ body: () throws -> Result) throws(SSHAgentError) -> Result {
        do {
            return try body()
        } catch {
            // The protocol carries no message, so it is printed where the agent runs.
            let failure = Failure(error)
            _ = failure.report(asJSON: false)
            throw .refused(reason: failure.message)
        }
    }
}

extension SSHSignatureAlgorithm {
    /// For curves, the signature is r and s, one after the other.
    fileprivate var keyAlgorithm: KeyAlgorithmName {
        let name: SignatureName =
            switch self {
            case .ecdsaP256: .ecdsaRawSHA256
            case .ecdsaP384: .ecdsaRawSHA384
            case .ecdsaP521: .ecdsaRawSHA512
            case .rsaSHA256: .pkcs1SHA256
            case .rsaSHA512: .pkcs1SHA512
            case .ed25519: .ed25519
            }
        return name.algorithm(isDigest: false)
    }
}
