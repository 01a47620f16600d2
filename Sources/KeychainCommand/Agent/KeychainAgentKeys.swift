import Certificates
import Foundation
import KeychainModel
import KeychainServices
import SSHAgent

/// The keychain's private keys as an ssh-agent has them.
struct KeychainAgentKeys: AgentKeys {
    let session: KeySession

    /// The keys that sign: those whose public half can be seen, however the vault is locked.
    func keys() throws(SSHAgentError) -> [(key: SSHPublicKey, comment: String)] {
        try entries().map { ($0.key, $0.pair.name) }
    }

    func sign(
        _ data: Data, with key: SSHPublicKey, _ algorithm: SSHSignatureAlgorithm, for purpose: SignaturePurpose
    ) throws(SSHAgentError) -> Data {
        guard let pair = try entries().first(where: { $0.key == key })?.pair else { throw .noSuchKey }
        return try refusing { () throws(Failure) in
            let words = KnownHosts.ofUser.words(for: purpose, key: pair.name)
            let privateKey = try session.privateKey(of: pair, AuthenticationOptions(prompt: words))
            return try session.result {
                SecKeyCreateSignature(privateKey, algorithm.keyAlgorithm, data as NSData, $0).map { $0 as Data }
            }
        }
    }

    private func entries() throws(SSHAgentError) -> [(key: SSHPublicKey, pair: KeyPair)] {
        try refusing { () throws(Failure) in
            try session.inventory().pairs.compactMap { pair in
                guard pair.hasPrivateHalf, let data = key(of: pair)?.keyData else { return nil }
                return SSHPublicKey(data).map { ($0, pair) }
            }
        }
    }

    /// The public key of a pair. Of a software key that was stored without it, the private one tells, unless that asks
    /// for a person.
    private func key(of pair: KeyPair) -> SecKey? {
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
    fileprivate var keyAlgorithm: SecKeyAlgorithm {
        switch self {
        case .ecdsaP256: .ecdsaSignatureMessageRFC4754SHA256
        case .ecdsaP384: .ecdsaSignatureMessageRFC4754SHA384
        case .ecdsaP521: .ecdsaSignatureMessageRFC4754SHA512
        case .rsaSHA256: .rsaSignatureMessagePKCS1v15SHA256
        case .rsaSHA512: .rsaSignatureMessagePKCS1v15SHA512
        }
    }
}
