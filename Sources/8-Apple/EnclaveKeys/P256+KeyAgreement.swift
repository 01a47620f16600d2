import Crypto
import Foundation
import KeyCryptography
import KeychainModel
import KeychainServices

extension SecureEnclave.P256.KeyAgreement {
    /// A key for agreeing on a secret whose private half stays in the enclave. `HPKE` takes it as a recipient's key,
    /// and as the key that authenticates a sender.
    public struct PrivateKey: HPKEDiffieHellmanPrivateKey, Sendable {
        private let key: EnclaveKey
        /// The public half.
        public let publicKey: Crypto.P256.KeyAgreement.PublicKey

        /// Makes a key; see
        /// ``SecureEnclave/P256/Signing/PrivateKey/init(compactRepresentable:accessControl:authenticationContext:)``.
        ///
        /// - Throws: ``SecureEnclaveError``.
        public init(
            compactRepresentable: Bool = true, accessControl: SecAccessControl? = nil,
            authenticationContext: LAContext? = nil
        ) throws {
            try self.init(
                EnclaveKey(.p256KeyAgreement, accessControl ?? EnclaveKey.plainAccessControl, authenticationContext))
        }

        /// A key from its ``dataRepresentation``. That it is one of this vault's shows when it is used.
        ///
        /// - Throws: ``SecureEnclaveError``.
        public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {
            try self.init(
                EnclaveKey(.p256KeyAgreement, dataRepresentation: dataRepresentation, authenticationContext))
        }

        private init(_ key: EnclaveKey) throws {
            guard let publicKey = try? Crypto.P256.KeyAgreement.PublicKey(x963Representation: key.record.publicKey)
            else { throw SecureEnclaveError.malformedKey }
            self.key = key
            self.publicKey = publicKey
        }

        /// What the program keeps to have the key again; no secret.
        public var dataRepresentation: Data { key.record.encoded }

        /// The secret that this key and `publicKeyShare` lead to (ECDH, SP 800-56A). Asks a person if the access
        /// control wants one.
        ///
        /// - Throws: ``SecureEnclaveError``.
        public func sharedSecretFromKeyAgreement(
            with publicKeyShare: Crypto.P256.KeyAgreement.PublicKey
        ) throws -> SharedSecret {
            let x = try key.perform(.agree(with: publicKeyShare.x963Representation))
            return try P256Agreement.sharedSecret(x: x)
        }
    }
}
