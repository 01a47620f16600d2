import Bytes
import Crypto
import Foundation
import KeychainModel
import KeychainServices

extension SecureEnclave.P256.Signing {
    /// A key for signatures whose private half stays in the enclave.
    public struct PrivateKey: Sendable {
        private let key: EnclaveKey
        /// The public half.
        public let publicKey: Crypto.P256.Signing.PublicKey

        /// Makes a key.
        ///
        /// - Parameters:
        ///   - compactRepresentable: Ignored: the enclave makes the key, and its public half can be told from its x
        ///     coordinate and one bit.
        ///   - accessControl: When the key can be used and by whom.
        ///   - authenticationContext: What a person was asked with already, or is to be asked with.
        /// - Throws: ``SecureEnclaveError``.
        public init(
            compactRepresentable: Bool = true, accessControl: SecAccessControl? = nil,
            authenticationContext: LAContext? = nil
        ) throws {
            try self.init(
                EnclaveKey(.p256Signing, accessControl ?? EnclaveKey.plainAccessControl, authenticationContext))
        }

        /// A key from its ``dataRepresentation``. That it is one of this vault's shows when it is used.
        ///
        /// - Throws: ``SecureEnclaveError``.
        public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {
            try self.init(
                EnclaveKey(.p256Signing, dataRepresentation: dataRepresentation, authenticationContext))
        }

        private init(_ key: EnclaveKey) throws {
            guard let publicKey = try? Crypto.P256.Signing.PublicKey(x963Representation: key.record.publicKey) else {
                throw SecureEnclaveError.malformedKey
            }
            self.key = key
            self.publicKey = publicKey
        }

        /// What the program keeps to have the key again; no secret.
        public var dataRepresentation: Data { key.record.encoded }

        /// The ECDSA signature of a digest. Asks a person if the access control wants one.
        ///
        /// - Throws: ``SecureEnclaveError``.
        public func signature<D: Digest>(for digest: D) throws -> Crypto.P256.Signing.ECDSASignature {
            let signature = try key.perform(.sign(digest: digest.withUnsafeBytes { Data($0) }))
            return try Crypto.P256.Signing.ECDSASignature(rawRepresentation: signature)
        }

        /// The ECDSA signature of data, with SHA-256.
        ///
        /// - Throws: ``SecureEnclaveError``.
        public func signature<D: DataProtocol>(for data: D) throws -> Crypto.P256.Signing.ECDSASignature {
            try signature(for: SHA256.hash(data: data))
        }
    }
}
