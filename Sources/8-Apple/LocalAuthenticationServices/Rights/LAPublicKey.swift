import Certificates
import Foundation
import KeyCryptography
import KeychainServices
import VaultKeys

/// The public half of a persisted right's key. It can be used without authorization, and the vault takes no part in it.
public final class LAPublicKey: NSObject, Sendable {
    private let key: VaultKey

    init(_ key: VaultKey) {
        self.key = key
        super.init()
    }

    /// Gives the key's bytes to `completion`: 04 ‖ X ‖ Y (ANSI X9.63), 65 bytes.
    ///
    /// - Parameter completion: Called once, on a queue of this module.
    public func exportBytes(completion: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        compute(completion) { key throws(KeyError) in key.keyData.externalRepresentation }
    }

    /// The key's bytes: 04 ‖ X ‖ Y (ANSI X9.63), 65 bytes.
    public var bytes: Data {
        get async throws { try await value { self.exportBytes(completion: $0) } }
    }

    // MARK: Encryption

    /// Encrypts data for the holder of the private key.
    ///
    /// - Parameters:
    ///   - data: The data.
    ///   - algorithm: How to encrypt; see ``canEncrypt(using:)``.
    ///   - completion: Called once, on a queue of this module, with the cryptogram, or the error of
    ///     `SecKeyCreateEncryptedData`.
    public func encrypt(
        _ data: Data, algorithm: SecKeyAlgorithm, completion: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        compute(completion) { key throws(KeyError) in try key.encrypt(data, by: algorithm.name) }
    }

    /// Encrypts data for the holder of the private key.
    ///
    /// - Parameters:
    ///   - data: The data.
    ///   - algorithm: How to encrypt; see ``canEncrypt(using:)``.
    /// - Throws: The error of `SecKeyCreateEncryptedData`.
    public func encrypt(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try await value { self.encrypt(data, algorithm: algorithm, completion: $0) }
    }

    /// Whether the key encrypts with this algorithm.
    public func canEncrypt(using algorithm: SecKeyAlgorithm) -> Bool {
        key.supports(algorithm.name, for: .encrypt)
    }

    // MARK: Signatures

    /// Checks a signature of a message or a digest.
    ///
    /// - Parameters:
    ///   - signedData: The message or digest.
    ///   - signature: The signature.
    ///   - algorithm: How it was made; see ``canVerify(using:)``.
    ///   - completion: Called once, on a queue of this module, with nil if the signature is the key's, else with the
    ///     error of `SecKeyVerifySignature`.
    public func verify(
        _ signedData: Data, signature: Data, algorithm: SecKeyAlgorithm,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let answer: Answer<Bool> = { isValid, error in
            let refusal = isValid == false ? securityError(errSecVerifyFailed, Self.refusal) : nil
            completion(error ?? refusal)
        }
        compute(answer) { key throws(KeyError) in try key.isValid(signature, of: signedData, by: algorithm.name) }
    }

    /// Checks a signature of a message or a digest.
    ///
    /// - Parameters:
    ///   - signedData: The message or digest.
    ///   - signature: The signature.
    ///   - algorithm: How it was made; see ``canVerify(using:)``.
    /// - Throws: The error of `SecKeyVerifySignature` if the signature is not the key's.
    public func verify(_ signedData: Data, signature: Data, algorithm: SecKeyAlgorithm) async throws {
        try await outcome { self.verify(signedData, signature: signature, algorithm: algorithm, completion: $0) }
    }

    /// Whether the key verifies signatures of this algorithm.
    public func canVerify(using algorithm: SecKeyAlgorithm) -> Bool {
        key.supports(algorithm.name, for: .verify)
    }

    private static let refusal = "The signature is not this key's for this data."

    private func compute<Value: Sendable>(
        _ completion: @escaping Answer<Value>, _ operation: @escaping @Sendable (VaultKey) throws(KeyError) -> Value
    ) {
        LAContext.queue.async { [key] in answer(completion, Result { () throws(KeyError) in try operation(key) }) }
    }
}
