import Certificates
import Foundation
import KeyCryptography
import KeychainModel
import KeychainServices
import ProcessVault
import VaultKeys

/// The private half of a persisted right's key: a key on P-256 in the vault's enclave.
///
/// It can be used while the right is authorized. Otherwise its operations fail with ``LAError/Code/notInteractive``:
/// they do not ask a person themselves.
public final class LAPrivateKey: NSObject, Sendable {
    /// The public half.
    public let publicKey: LAPublicKey
    private let record: EnclaveKeyRecord
    private let key: VaultKey
    private let authorization: RightAuthorization

    init(_ record: EnclaveKeyRecord, _ authorization: RightAuthorization) throws(KeyError) {
        key = try VaultKey.enclaveKey(record, KeyUse())
        self.record = record
        self.authorization = authorization
        publicKey = LAPublicKey(key.publicKey)
        super.init()
    }

    // MARK: Signatures

    /// Signs a message or a digest.
    ///
    /// - Parameters:
    ///   - data: The message or digest.
    ///   - algorithm: How to sign; see ``canSign(using:)``.
    ///   - completion: Called once, on a queue of this module, with the signature, or an ``LAError`` if the right is
    ///     not authorized, or the error of `SecKeyCreateSignature`.
    public func sign(
        _ data: Data, algorithm: SecKeyAlgorithm, completion: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        use(completion) { key throws(KeyError) in try key.sign(data, by: algorithm.name) }
    }

    /// Signs a message or a digest.
    ///
    /// - Parameters:
    ///   - data: The message or digest.
    ///   - algorithm: How to sign; see ``canSign(using:)``.
    /// - Throws: ``LAError`` if the right is not authorized, or the error of `SecKeyCreateSignature`.
    public func sign(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try await value { self.sign(data, algorithm: algorithm, completion: $0) }
    }

    /// Whether the key signs with this algorithm.
    public func canSign(using algorithm: SecKeyAlgorithm) -> Bool {
        key.supports(algorithm.name, for: .sign)
    }

    // MARK: Decryption

    /// Decrypts what was encrypted for the public half.
    ///
    /// - Parameters:
    ///   - data: The cryptogram.
    ///   - algorithm: How it was encrypted; see ``canDecrypt(using:)``.
    ///   - completion: Called once, on a queue of this module, with the data, or an ``LAError`` if the right is not
    ///     authorized, or the error of `SecKeyCreateDecryptedData`.
    public func decrypt(
        _ data: Data, algorithm: SecKeyAlgorithm, completion: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        use(completion) { key throws(KeyError) in try key.decrypt(data, by: algorithm.name) }
    }

    /// Decrypts what was encrypted for the public half.
    ///
    /// - Parameters:
    ///   - data: The cryptogram.
    ///   - algorithm: How it was encrypted; see ``canDecrypt(using:)``.
    /// - Throws: ``LAError`` if the right is not authorized, or the error of `SecKeyCreateDecryptedData`.
    public func decrypt(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try await value { self.decrypt(data, algorithm: algorithm, completion: $0) }
    }

    /// Whether the key decrypts with this algorithm.
    public func canDecrypt(using algorithm: SecKeyAlgorithm) -> Bool {
        key.supports(algorithm.name, for: .decrypt)
    }

    // MARK: Key exchange

    /// Computes what this key and somebody else's public key share.
    ///
    /// - Parameters:
    ///   - publicKey: The other party's public key on P-256: 04 ‖ X ‖ Y, as ``LAPublicKey/bytes`` has it.
    ///   - algorithm: How to derive the result; see ``canExchangeKeys(using:)``.
    ///   - parameters: By the names of `SecKeyKeyExchangeParameter`.
    ///   - completion: Called once, on a queue of this module, with the shared bytes, or an ``LAError`` if the right is
    ///     not authorized, or the error of `SecKeyCopyKeyExchangeResult`.
    public func exchangeKeys(
        publicKey: Data, algorithm: SecKeyAlgorithm, parameters: [AnyHashable: Any],
        completion: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        // Read here: the dictionary's values may not go to another thread.
        let parameters = Result { () throws(KeyError) in try KeyExchangeParameters(parameters as NSDictionary) }
        use(completion) { key throws(KeyError) in
            guard
                let peer = VaultKey(
                    bytes: publicKey, type: key.keyData.type.rawValue, keyClass: key.publicKey.keyClass.rawValue)
            else {
                throw .invalidInput(reason: "The data is no public key on P-256.")
            }
            return try key.exchange(with: peer, by: algorithm.name) { () throws(KeyError) in
                let parameters = try parameters.get()
                return (parameters.requestedSize, parameters.sharedInfo)
            }
        }
    }

    /// Computes what this key and somebody else's public key share.
    ///
    /// - Parameters:
    ///   - publicKey: The other party's public key on P-256: 04 ‖ X ‖ Y, as ``LAPublicKey/bytes`` has it.
    ///   - algorithm: How to derive the result; see ``canExchangeKeys(using:)``.
    ///   - parameters: By the names of `SecKeyKeyExchangeParameter`.
    /// - Throws: ``LAError`` if the right is not authorized, or the error of `SecKeyCopyKeyExchangeResult`.
    public func exchangeKeys(
        publicKey: Data, algorithm: SecKeyAlgorithm, parameters: [AnyHashable: Any]
    ) async throws -> Data {
        try await value {
            self.exchangeKeys(publicKey: publicKey, algorithm: algorithm, parameters: parameters, completion: $0)
        }
    }

    /// Whether the key agrees on secrets with this algorithm.
    public func canExchangeKeys(using algorithm: SecKeyAlgorithm) -> Bool {
        key.supports(algorithm.name, for: .keyExchange)
    }

    /// Uses the key under the context of the right. Nobody is asked.
    private func use(
        _ completion: @escaping Answer<Data>,
        _ operation: @escaping @Sendable (VaultKey) throws(KeyError) -> Data
    ) {
        let context = authorization.context
        answer(completion) { [record] session in
            let use = KeyUse(
                authentication: AuthenticationOptions(interaction: .fail, context: context._keychainState.identifier),
                context: context._keychainState)
            let key = try VaultKey.enclaveKey(record, use)
            // The key itself finds the vault.
            return try session.asCurrent {
                try operation(key)
            }
        }
    }
}

extension VaultKey {
    fileprivate static func enclaveKey(_ record: EnclaveKeyRecord, _ use: KeyUse) throws(KeyError) -> VaultKey {
        guard let key = VaultKey(record, use: use) else {
            throw .invalidInput(reason: "The record is of no key on P-256.")
        }
        return key
    }
}
