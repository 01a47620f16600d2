import Crypto
import Foundation
import KeychainModel
import KeychainServices

extension SecureEnclave.MLDSA65 {
    /// A key for signatures whose seed the enclave seals. The TPM has no such keys: the vault unseals the seed for each
    /// use and computes with it in locked memory.
    public struct PrivateKey: Sendable {
        private let key: EnclaveKey
        /// The public half.
        public let publicKey: Crypto.MLDSA65.PublicKey

        /// Makes a key.
        ///
        /// - Parameters:
        ///   - accessControl: When the key can be used and by whom.
        ///   - authenticationContext: What a person was asked with already, or is to be asked with.
        /// - Throws: ``SecureEnclaveError``.
        public init(accessControl: SecAccessControl? = nil, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclaveKey(.mldsa65, accessControl ?? EnclaveKey.plainAccessControl, authenticationContext))
        }

        /// A key from its ``dataRepresentation``. That it is one of this vault's shows when it is used.
        ///
        /// - Throws: ``SecureEnclaveError``.
        public init<D: DataProtocol>(dataRepresentation: D, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclaveKey(.mldsa65, dataRepresentation: Data(dataRepresentation), authenticationContext))
        }

        private init(_ key: EnclaveKey) throws {
            guard let publicKey = try? Crypto.MLDSA65.PublicKey(rawRepresentation: key.record.publicKey) else {
                throw SecureEnclaveError.malformedKey
            }
            self.key = key
            self.publicKey = publicKey
        }

        /// What the program keeps to have the key again; no secret.
        public var dataRepresentation: Data { key.record.encoded }

        /// A signature of data. Asks a person if the access control wants one.
        ///
        /// - Throws: ``SecureEnclaveError``.
        public func signature<D: DataProtocol>(for data: D) throws -> Data {
            try key.perform(.signMessage(Data(data), context: Data()))
        }

        /// A signature of data in a context, of at most 255 bytes, that the verifier has to name too.
        ///
        /// - Throws: ``SecureEnclaveError``.
        public func signature<D: DataProtocol, C: DataProtocol>(for data: D, context: C) throws -> Data {
            try key.perform(.signMessage(Data(data), context: Data(context)))
        }
    }
}
