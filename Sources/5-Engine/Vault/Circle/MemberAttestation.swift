import Attestation
import Bytes
import Certificates
import Circle
import Crypto
import Enclave
import FoundationEssentials
import Frames
import Keybag
import KeychainModel
import VaultInterface

/// What a TPM says of the keys of a vault that asks to join: it made them, and never lets them out.
struct MemberAttestation {
    /// The name of the TPM's attestation key.
    let attester: Data
    /// The issuer of the certificate that the TPM has of its maker; nil without one. Nobody has checked it.
    let maker: String?

    /// Has the enclave attest the keys of a vault, as a request to join holds it: three attestations, each with its
    /// length (4).
    ///
    /// - Throws: ``VaultError/unsupported(reason:)`` for an enclave that cannot attest.
    static func make(of own: OwnMember, nonce: Data, in keybag: OpenedKeybag) throws -> Data {
        guard keybag.keys.enclave.kind == .tpm2 else {
            throw VaultError.unsupported(
                reason:
                    "the invitation asks that a TPM attests the keys of this vault, and its enclave is "
                    + "\(keybag.keys.enclave.kind.name): join with a vault in a TPM 2.0 (`keychain init --enclave tpm2`), "
                    + "or leave (`keychain circle leave`) and use an invitation without that demand")
        }
        let buffer = FrameBuffer()
        for (place, key) in own.enclaveKeys.enumerated() {
            guard let encoded = try VaultEnclaveKeys.useUnguarded(key, for: .attest(nonce: nonce), in: keybag) else {
                throw VaultError.corruptVault(reason: "a key of the circle is missing")
            }
            var attestation = try KeyAttestation(decoding: encoded)
            // They are the same in each.
            if place > 0 { (attestation.rsaCertificate, attestation.ellipticCertificate) = (Data(), Data()) }
            attestation.encoded.withUnsafeBytes { buffer.append(counted: $0) }
        }
        return Data(buffer.bytes)
    }

    /// Checks the attestations of a request.
    ///
    /// - Parameters:
    ///   - keys: Of the vault that asks.
    ///   - nonce: ``JoinRequest/attestationNonce(_:_:_:)``.
    init(checking encoded: Data, of keys: MemberKeys, nonce: Data) throws(CircleError) {
        var found: [(key: AttestedKey, attestation: KeyAttestation)] = []
        var reader = FrameReader(FrameBuffer(encoded))
        do {
            for _ in 0..<3 {
                let attestation = try KeyAttestation(
                    decoding: Data(try reader.counted(limit: KeyAttestation.mostBytes)))
                found.append((try attestation.verified(nonce: nonce), attestation))
            }
            try reader.finish()
        } catch let error as AttestationError {
            throw .notPermitted("an attestation that proves nothing: \(error)")
        } catch {
            throw .malformed("attestation")
        }
        let expected = [
            (keys.signing, true), (keys.whileUnlocked.agreement, false), (keys.afterFirstUnlock.agreement, false),
        ]
        for ((key, _), (publicKey, signs)) in zip(found, expected) {
            let compressed = (try? P256.Signing.PublicKey(x963Representation: key.publicKey))?.compressedRepresentation
            guard compressed == publicKey, key.attributes.contains(.sign) == signs,
                key.attributes.contains(.decrypt) != signs
            else { throw .notPermitted("an attestation of other keys than those that ask") }
        }
        guard let first = found.first, found.allSatisfy({ $0.key.attester == first.key.attester }) else {
            throw .notPermitted("attestations of several TPMs")
        }
        attester = first.key.attester
        maker =
            [first.attestation.ellipticCertificate, first.attestation.rsaCertificate]
            .compactMap { try? Certificate(der: $0) }.lazy.compactMap(\.issuer.summary).first
    }
}
