import Bytes
import Crypto
import FoundationEssentials

/// The public half of a TPM's P-256 key, with the TPM's guarantees about it (TPM 2.0 Library, Part 2, section 12.2.4,
/// TPMT_PUBLIC).
package struct PublicArea: Sendable, Equatable {
    /// The area without its size.
    package let encoded: Data
    package let attributes: ObjectAttributes
    package let policy: Data
    /// The algorithm with which a storage key encrypts its children; nil for other keys.
    package let symmetric: UInt16?
    /// The hash function of ECDSA, if the key is only for signing with it.
    package let signatureHash: UInt16?
    /// The uncompressed point (SEC 1, section 2.3.3): 65 bytes.
    package let point: Data

    /// - Parameter encoding: A TPM2B_PUBLIC.
    /// - Parameter structure: The key's description for errors.
    package init(decoding encoding: Data, of structure: String) throws(AttestationError) {
        var sized = StructureReader(encoding, of: structure)
        encoded = try sized.buffer(1...Self.largestSize)
        try sized.finish()
        var reader = StructureReader(encoded, of: structure)
        guard try reader.integer() == Identifier.ecc, try reader.integer() == Identifier.sha256 else {
            throw reader.malformed
        }
        attributes = ObjectAttributes(rawValue: try reader.integer())
        policy = try reader.buffer(0...Self.hashSize)
        let symmetric: UInt16 = try reader.integer()
        self.symmetric = symmetric == Identifier.null ? nil : symmetric
        // The size of the key, and the mode.
        if symmetric != Identifier.null { _ = try reader.bytes(4) }
        switch try reader.integer(UInt16.self) {
        case Identifier.null: signatureHash = nil
        case Identifier.ecdsa: signatureHash = try reader.integer()
        default: throw reader.malformed
        }
        // The curve, and no key derivation.
        guard try reader.integer() == Identifier.p256, try reader.integer() == Identifier.null,
            let x = try reader.buffer(1...32).padded(to: 32), let y = try reader.buffer(1...32).padded(to: 32)
        else { throw reader.malformed }
        try reader.finish()
        point = Data([4]) + x + y
        guard (try? P256.Signing.PublicKey(x963Representation: point)) != nil else { throw reader.malformed }
    }

    /// The TPM's name of the key. Any change of the area gives another name (Part 1, section 16).
    package var name: Data { Self.name(encoded) }

    /// The name of a primary key of the endorsement hierarchy, combined with that of its parent.
    var nameUnderEndorsement: Data { Self.name(Identifier.endorsement + name) }

    private static func name(_ bytes: Data) -> Data {
        Data([0, UInt8(truncatingIfNeeded: Identifier.sha256)]) + SHA256.hash(data: bytes)
    }

    private static let hashSize = 32
    /// The size for a key on P-256 with a policy: 92 bytes plus the symmetric algorithm.
    private static let largestSize = 256
}

/// Constants of the TPM 2.0 Library, Part 2, sections 6.3 (TPM_ALG_ID), 6.4 (TPM_ECC_CURVE) and 7.4 (TPM_RH).
enum Identifier {
    static let sha256: UInt16 = 0x000B
    static let null: UInt16 = 0x0010
    static let ecdsa: UInt16 = 0x0018
    static let ecc: UInt16 = 0x0023
    static let p256: UInt16 = 0x0003
    static let endorsement = Data([0x40, 0x00, 0x00, 0x0B])
}
