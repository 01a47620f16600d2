/// A TPM's guarantees about an object (TPM 2.0 Library, Part 2, section 8.3, TPMA_OBJECT).
package struct ObjectAttributes: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The object cannot be moved to another TPM, or under another parent.
    package static let fixedTPM = ObjectAttributes(rawValue: 1 << 1)
    package static let fixedParent = ObjectAttributes(rawValue: 1 << 4)
    /// The TPM itself made the secret half.
    package static let sensitiveDataOrigin = ObjectAttributes(rawValue: 1 << 5)
    package static let userWithAuth = ObjectAttributes(rawValue: 1 << 6)
    package static let adminWithPolicy = ObjectAttributes(rawValue: 1 << 7)
    /// The TPM does not count wrong authorizations, and the object works during a lockout.
    package static let noDA = ObjectAttributes(rawValue: 1 << 10)
    /// The object works only on the TPM's own structures.
    package static let restricted = ObjectAttributes(rawValue: 1 << 16)
    package static let decrypt = ObjectAttributes(rawValue: 1 << 17)
    package static let sign = ObjectAttributes(rawValue: 1 << 18)

    /// The attributes of every key that this package makes in a TPM.
    package static let ownKey: ObjectAttributes = [.fixedTPM, .fixedParent, .sensitiveDataOrigin, .userWithAuth, .noDA]
    /// The attributes of the attestation key: it signs only the TPM's statements, and no data from others.
    package static let attestationKey: ObjectAttributes = [.ownKey, .restricted, .sign]
}
