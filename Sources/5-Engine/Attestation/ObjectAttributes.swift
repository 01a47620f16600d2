/// What a TPM promises of an object (TPM 2.0 Library, Part 2, section 8.3, TPMA_OBJECT).
package struct ObjectAttributes: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Cannot be moved to another TPM, nor under another parent.
    package static let fixedTPM = ObjectAttributes(rawValue: 1 << 1)
    package static let fixedParent = ObjectAttributes(rawValue: 1 << 4)
    /// The TPM made the secret half itself.
    package static let sensitiveDataOrigin = ObjectAttributes(rawValue: 1 << 5)
    package static let userWithAuth = ObjectAttributes(rawValue: 1 << 6)
    package static let adminWithPolicy = ObjectAttributes(rawValue: 1 << 7)
    /// Wrong authorizations are not counted, and the object works while the TPM is locked out.
    package static let noDA = ObjectAttributes(rawValue: 1 << 10)
    /// Only for the TPM's own structures.
    package static let restricted = ObjectAttributes(rawValue: 1 << 16)
    package static let decrypt = ObjectAttributes(rawValue: 1 << 17)
    package static let sign = ObjectAttributes(rawValue: 1 << 18)

    /// Of every key that this package has a TPM make.
    package static let ownKey: ObjectAttributes = [.fixedTPM, .fixedParent, .sensitiveDataOrigin, .userWithAuth, .noDA]
    /// Of the key that attests: it signs what the TPM says, and nothing that anybody gives it.
    package static let attestationKey: ObjectAttributes = [.ownKey, .restricted, .sign]
}
