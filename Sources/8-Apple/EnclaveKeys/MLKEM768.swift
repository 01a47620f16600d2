import Crypto
import Foundation
import KeychainModel
import KeychainServices

extension SecureEnclave.MLKEM768 {
    /// A key for encapsulated secrets whose seed the enclave seals. The TPM has no such keys: the vault unseals the
    /// seed for each use and computes with it in locked memory.
    public struct PrivateKey: KEMPrivateKey, Sendable {
        private let key: EnclaveKey
        /// The public half.
        public let publicKey: Crypto.MLKEM768.PublicKey

        /// Makes a key.
        ///
        /// - Parameters:
        ///   - accessControl: When the key can be used and by whom.
        ///   - authenticationContext: What a person was asked with already, or is to be asked with.
        /// - Throws: ``SecureEnclaveError``.
        public init(accessControl: SecAccessControl? = nil, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclaveKey(.mlkem768, accessControl ?? EnclaveKey.plainAccessControl, authenticationContext))
        }

        /// A key from its ``dataRepresentation``. That it is one of this vault's shows when it is used.
        ///
        /// - Throws: ``SecureEnclaveError``.
        public init<D: DataProtocol>(dataRepresentation: D, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclaveKey(.mlkem768, dataRepresentation: Data(dataRepresentation), authenticationContext))
        }

        /// Makes a key that can be used while the vault is unlocked.
        ///
        /// - Throws: ``SecureEnclaveError``.
        public static func generate() throws -> Self { try Self() }

        private init(_ key: EnclaveKey) throws {
            guard let publicKey = try? Crypto.MLKEM768.PublicKey(rawRepresentation: key.record.publicKey) else {
                throw SecureEnclaveError.malformedKey
            }
            self.key = key
            self.publicKey = publicKey
        }

        /// What the program keeps to have the key again; no secret.
        public var dataRepresentation: Data { key.record.encoded }

        /// The shared secret in a capsule: 256 bits. Asks a person if the access control wants one.
        ///
        /// - Throws: ``SecureEnclaveError``.
        public func decapsulate<D: DataProtocol>(_ encapsulated: D) throws -> SymmetricKey {
            SymmetricKey(data: try key.perform(.decapsulate(Data(encapsulated))))
        }
    }
}
