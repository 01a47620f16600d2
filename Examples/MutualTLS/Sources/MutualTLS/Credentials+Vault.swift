import Foundation
import KeychainX509
import X509

extension CertificateAuthority {
    /// The authority in the vault; made at the first use. Its key is an ordinary one, as one is that signs elsewhere.
    static func stored() async throws -> CertificateAuthority {
        let key = try Vault.key(named: "authority", in: .process)
        if let stored = try Vault.certificate(named: "authority") {
            let certificate = try Certificate(derEncoded: stored)
            if certificate.publicKey == key.publicKey, certificate.isValid(at: Date()) {
                return CertificateAuthority(key: key, certificate: certificate)
            }
        }
        let made = try await CertificateAuthority(name: "Example authority", key: key)
        try Vault.store(made.certificate.der, named: "authority")
        return made
    }
}

extension Credentials {
    /// The key with this name in the vault's enclave, and its certificate; what is missing is made.
    static func stored(_ name: String, from authority: CertificateAuthority) async throws -> Credentials {
        let key = try Vault.key(named: name, in: .enclave)
        if let stored = try Vault.certificate(named: name) {
            let certificate = try Certificate(derEncoded: stored)
            let isOurs = authority.key.publicKey.isValidSignature(certificate.signature, for: certificate)
            if isOurs, certificate.publicKey == key.publicKey, certificate.isValid(at: Date()) {
                return Credentials(key: key, certificate: certificate)
            }
        }
        let made = try await Credentials(name: name, key: key, from: authority)
        try Vault.store(made.certificate.der, named: name)
        return made
    }
}
