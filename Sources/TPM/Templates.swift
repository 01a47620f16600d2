import CTSS2
import Foundation

/// The public areas that objects are made from (Part 2, section 12.2).
///
/// Unions are put together from the inside and assigned whole: optimised code of Swift 6.3 loses a second assignment to a
/// member of a union within a union.
enum Template {
    /// The storage root key: P-256 with AES-128 in CFB mode, as TCG's provisioning guidance has it, with nothing in its
    /// unique field. Whoever makes a primary key from this on the same TPM gets the same key.
    static let storageRootKey: TPM2B_PUBLIC = {
        elliptic(
            [.fixedTPM, .fixedParent, .sensitiveDataOrigin, .userWithAuth, .noDA, .restricted, .decrypt],
            symmetric: symmetric)
    }()

    /// The same under the endorsement hierarchy, whose seed survives a clearing: it tells a cleared TPM from another.
    static let identity = storageRootKey

    /// The device secret: a key for HMAC-SHA256 that the TPM makes and never shows.
    static let deviceSecret: TPM2B_PUBLIC = {
        var hmac = TPMS_SCHEME_HASH()
        hmac.hashAlg = Algorithm.sha256
        var details = TPMU_SCHEME_KEYEDHASH()
        details.hmac = hmac
        var scheme = TPMT_KEYEDHASH_SCHEME()
        scheme.scheme = Algorithm.hmac
        scheme.details = details
        return keyedHash(
            [.fixedTPM, .fixedParent, .sensitiveDataOrigin, .userWithAuth, .noDA, .sign], scheme: scheme)
    }()

    /// A secret of the caller's.
    static let sealed = keyedHash([.fixedTPM, .fixedParent, .userWithAuth, .noDA])

    /// A secret whose authorization is a passcode's: the TPM counts wrong ones.
    static let guarded = keyedHash([.fixedTPM, .fixedParent, .userWithAuth])

    static func key(signs: Bool, agrees: Bool) -> TPM2B_PUBLIC {
        var attributes: ObjectAttributes = [.fixedTPM, .fixedParent, .sensitiveDataOrigin, .userWithAuth, .noDA]
        if signs { attributes.insert(.sign) }
        if agrees { attributes.insert(.decrypt) }
        return elliptic(attributes)
    }

    /// What parameters of commands are encrypted with, and what a parent encrypts its children with.
    static var symmetric: TPMT_SYM_DEF {
        var symmetric = TPMT_SYM_DEF()
        symmetric.algorithm = Algorithm.aes
        var keyBits = TPMU_SYM_KEY_BITS()
        keyBits.aes = 128
        symmetric.keyBits = keyBits
        var mode = TPMU_SYM_MODE()
        mode.aes = Algorithm.cfb
        symmetric.mode = mode
        return symmetric
    }

    private static var noSymmetric: TPMT_SYM_DEF {
        var symmetric = TPMT_SYM_DEF()
        symmetric.algorithm = Algorithm.null
        return symmetric
    }

    private static var noScheme: TPMT_KEYEDHASH_SCHEME {
        var scheme = TPMT_KEYEDHASH_SCHEME()
        scheme.scheme = Algorithm.null
        return scheme
    }

    private static func elliptic(
        _ attributes: ObjectAttributes, symmetric: TPMT_SYM_DEF = noSymmetric
    ) -> TPM2B_PUBLIC {
        var detail = TPMS_ECC_PARMS()
        detail.symmetric = symmetric
        detail.scheme.scheme = Algorithm.null
        detail.curveID = Algorithm.p256
        detail.kdf.scheme = Algorithm.null
        var parameters = TPMU_PUBLIC_PARMS()
        parameters.eccDetail = detail
        var template = area(Algorithm.ecc, attributes)
        template.publicArea.parameters = parameters
        return template
    }

    private static func keyedHash(
        _ attributes: ObjectAttributes, scheme: TPMT_KEYEDHASH_SCHEME = noScheme
    ) -> TPM2B_PUBLIC {
        var detail = TPMS_KEYEDHASH_PARMS()
        detail.scheme = scheme
        var parameters = TPMU_PUBLIC_PARMS()
        parameters.keyedHashDetail = detail
        var template = area(Algorithm.keyedHash, attributes)
        template.publicArea.parameters = parameters
        return template
    }

    private static func area(_ type: TPM2_ALG_ID, _ attributes: ObjectAttributes) -> TPM2B_PUBLIC {
        var template = TPM2B_PUBLIC()
        template.publicArea.type = type
        template.publicArea.nameAlg = Algorithm.sha256
        template.publicArea.objectAttributes = attributes.rawValue
        return template
    }
}
