import FoundationEssentials

/// A TPM's statement that certifies a key (TPM 2.0 Library, Part 2, section 10.12.12, TPMS_ATTEST with a
/// TPMS_CERTIFY_INFO).
struct Certification: Sendable, Equatable {
    /// The name of the signing key, combined with that of its parent.
    var attester: Data
    var nonce: Data
    /// The name of the certified key.
    var name: Data

    init(decoding encoding: Data) throws(AttestationError) {
        var reader = StructureReader(encoding, of: "TPM's statement")
        // TPM_GENERATED_VALUE: nothing else that the TPM signs with a restricted key begins like this.
        guard try reader.integer(UInt32.self) == 0xFF54_4347 else { throw .notFromATPM }
        guard try reader.integer(UInt16.self) == 0x8017 else { throw .notACertification }
        attester = try reader.buffer(0...Self.nameSize)
        nonce = try reader.buffer(0...64)
        // Clock, resets, restarts, whether the clock is reliable, and the version of the firmware.
        _ = try reader.bytes(8 + 4 + 4)
        guard try reader.integer(UInt8.self) <= 1 else { throw reader.malformed }
        _ = try reader.bytes(8)
        name = try reader.buffer(0...Self.nameSize)
        // The name of the key, combined with that of its parent.
        _ = try reader.buffer(0...Self.nameSize)
        try reader.finish()
    }

    /// The size of a name with the longest digest, SHA-512.
    private static let nameSize = 66
}
