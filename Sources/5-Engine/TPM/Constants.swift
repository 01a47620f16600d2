import CTSS2

/// Constants of the TPM 2.0 Library, Part 2: Structures, with the section of their table.
enum Algorithm {
    // 6.3, TPM_ALG_ID
    static let hmac: TPM2_ALG_ID = 0x0005
    static let aes: TPM2_ALG_ID = 0x0006
    static let keyedHash: TPM2_ALG_ID = 0x0008
    static let exclusiveOr: TPM2_ALG_ID = 0x000A
    static let sha256: TPM2_ALG_ID = 0x000B
    static let null: TPM2_ALG_ID = 0x0010
    static let ecdsa: TPM2_ALG_ID = 0x0018
    static let ecc: TPM2_ALG_ID = 0x0023
    static let cfb: TPM2_ALG_ID = 0x0043
    // 6.4, TPM_ECC_CURVE
    static let p256: TPM2_ECC_CURVE = 0x0003
}

/// 8.4, TPMA_SESSION.
enum SessionAttributes {
    static let continueSession: UInt8 = 1 << 0
    static let decrypt: UInt8 = 1 << 5
    static let encrypt: UInt8 = 1 << 6
}

/// 6.8 (TPM_EO), 6.9 (TPM_ST), 6.10 (TPM_SU), 6.11 (TPM_SE), 6.12 (TPM_CAP), 6.13 (TPM_PT), 7.4 (TPM_RH).
enum TPMConstant {
    static let noSessionsTag: UInt16 = 0x8001
    static let sessionsTag: UInt16 = 0x8002
    static let hashCheckTicket: UInt16 = 0x8024
    static let startupClear: UInt16 = 0
    static let hmacSession: UInt8 = 0
    static let policySession: UInt8 = 1
    /// The comparison in a policy.
    static let equal: UInt16 = 0
    static let handlesCapability: UInt32 = 1
    static let propertiesCapability: UInt32 = 6
    static let variableProperties: UInt32 = 0x200
    static let permanentFlags: UInt32 = 0x200
    static let lockoutCounter: UInt32 = 0x20E
    static let maximumFailures: UInt32 = 0x20F
    static let lockoutInterval: UInt32 = 0x210
    static let lockoutRecovery: UInt32 = 0x211
    /// The stack's TPM2_MAX_RESPONSE_SIZE.
    static let longestAnswer = 4096
    /// The session of a plain password.
    static let passwordSession: TPM2_HANDLE = 0x4000_0009
    static let nullHierarchy: TPM2_HANDLE = 0x4000_0007
    /// The indices for the machine's owner (TCG Registry of Reserved TPM 2.0 Handles and Localities).
    static let ownersIndices: ClosedRange<TPM2_HANDLE> = 0x0180_0000...0x01BF_FFFF
    /// The handle of a stored storage root key (TCG TPM v2.0 Provisioning Guidance, section 7.8).
    static let storageRootKey: TPM2_HANDLE = 0x8100_0001
    /// The indices of the maker's certificates for endorsement keys, with RSA 2048 and on P-256 (TCG EK Credential
    /// Profile, section 2.2.1.4).
    static let rsaCertificate: TPM2_HANDLE = 0x01C0_0002
    static let ellipticCertificate: TPM2_HANDLE = 0x01C0_000A
}

/// The stack's constants for objects that need no loading (tss2_esys.h).
enum Handle {
    static let none: ESYS_HANDLE = 0xFFF
    static let password: ESYS_HANDLE = 0x0FF
    static let owner: ESYS_HANDLE = 0x101
    static let lockout: ESYS_HANDLE = 0x10A
    static let endorsement: ESYS_HANDLE = 0x10B
}
