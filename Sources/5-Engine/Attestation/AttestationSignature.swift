import Crypto
import FoundationEssentials

/// A TPM's ECDSA signature with SHA-256 (TPM 2.0 Library, Part 2, section 11.3.4, TPMT_SIGNATURE).
package struct AttestationSignature: Sendable, Equatable {
    /// 32 bytes each.
    package let r: Data
    package let s: Data

    package init(decoding encoding: Data) throws(AttestationError) {
        var reader = StructureReader(encoding, of: "signature")
        guard try reader.integer() == Identifier.ecdsa, try reader.integer() == Identifier.sha256,
            let r = try reader.buffer(1...32).padded(to: 32), let s = try reader.buffer(1...32).padded(to: 32)
        else { throw reader.malformed }
        try reader.finish()
        (self.r, self.s) = (r, s)
    }

    /// The signature in the usual form: a SEQUENCE of the two numbers (RFC 3279, section 2.2.3).
    package var der: Data? { ecdsa?.derRepresentation }

    private var ecdsa: P256.Signing.ECDSASignature? { try? .init(rawRepresentation: r + s) }

    func isValid(for statement: Data, by key: PublicArea) -> Bool {
        guard let ecdsa, let key = try? P256.Signing.PublicKey(x963Representation: key.point) else { return false }
        return key.isValidSignature(ecdsa, for: SHA256.hash(data: statement))
    }
}
