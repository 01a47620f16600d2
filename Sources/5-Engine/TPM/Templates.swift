import Attestation
import CTSS2
import FoundationEssentials

/// The public areas for making objects (Part 2, section 12.2).
///
/// Unions are built from the inside and assigned as a whole: optimised code of Swift 6.3 loses a second assignment to a
/// member of a union within a union.
enum Template {
    /// The storage root key: P-256 with AES-128 in CFB mode, as in TCG's provisioning guidance, with an empty unique
    /// field. On one TPM, this template always makes the same primary key.
    static let storageRootKey: TPM2B_PUBLIC = {
        elliptic(
            [.fixedTPM, .fixedParent, .sensitiveDataOrigin, .userWithAuth, .noDA, .restricted, .decrypt],
            symmetric: symmetric)
    }()

    /// The same template under the endorsement hierarchy, whose seed survives a clearing. Its key tells a cleared TPM
    /// from another TPM.
    static let identity = storageRootKey

    /// The device secret: a key for HMAC-SHA256 that the TPM makes and never reveals.
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

    /// A secret of the caller.
    static let sealed = keyedHash([.fixedTPM, .fixedParent, .userWithAuth, .noDA])

    /// A secret whose authorization comes from a passcode. The TPM counts wrong ones.
    static let guarded = keyedHash([.fixedTPM, .fixedParent, .userWithAuth])

    /// A secret that the TPM reveals to every program that satisfies `policy`, and never for an authorization: even to
    /// change its authorization, the policy would have to name that command.
    static func sealed(to policy: CounterPolicy) -> TPM2B_PUBLIC {
        var template = keyedHash([.fixedTPM, .fixedParent, .adminWithPolicy, .noDA])
        template.publicArea.authPolicy = TPM2B_DIGEST(policy.digest)
        return template
    }

    static func key(signs: Bool, agrees: Bool) -> TPM2B_PUBLIC {
        var attributes = ObjectAttributes.ownKey
        if signs { attributes.insert(.sign) }
        if agrees { attributes.insert(.decrypt) }
        return elliptic(attributes)
    }

    /// The attestation key: a primary key, so that it needs no storage. Its unique field is empty, so that other tools
    /// can make the same key from its attributes.
    static let attestationKey: TPM2B_PUBLIC = {
        var hash = TPMU_SIG_SCHEME()
        hash.ecdsa = TPMS_SCHEME_HASH(hashAlg: Algorithm.sha256)
        var scheme = TPMT_ECC_SCHEME()
        scheme.scheme = Algorithm.ecdsa
        scheme.details = hash
        return elliptic(.attestationKey, scheme: scheme)
    }()

    /// The endorsement key on P-256 of the maker's certificate (TCG EK Credential Profile, section B.3.4, template
    /// L-2).
    static let endorsementKey: TPM2B_PUBLIC = {
        var template = elliptic(
            [.fixedTPM, .fixedParent, .sensitiveDataOrigin, .adminWithPolicy, .restricted, .decrypt],
            symmetric: symmetric)
        // PolicyA of the profile: TPM2_PolicySecret with the endorsement hierarchy.
        template.publicArea.authPolicy = TPM2B_DIGEST(endorsementPolicy)
        var zeros = TPMS_ECC_POINT()
        zeros.x = TPM2B_ECC_PARAMETER(Data(count: 32))
        zeros.y = TPM2B_ECC_PARAMETER(Data(count: 32))
        template.publicArea.unique.ecc = zeros
        return template
    }()

    private static let endorsementPolicy: [UInt8] = [
        0x83, 0x71, 0x97, 0x67, 0x44, 0x84, 0xB3, 0xF8, 0x1A, 0x90, 0xCC, 0x8D, 0x46, 0xA5, 0xD7, 0x24,
        0xFD, 0x52, 0xD7, 0x6E, 0x06, 0x52, 0x0B, 0x64, 0xF2, 0xA1, 0xDA, 0x1B, 0x33, 0x14, 0x69, 0xAA,
    ]

    /// The cipher for parameters of commands, and for the children of a parent key.
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

    private static var noEllipticScheme: TPMT_ECC_SCHEME {
        var scheme = TPMT_ECC_SCHEME()
        scheme.scheme = Algorithm.null
        return scheme
    }

    private static func elliptic(
        _ attributes: ObjectAttributes, symmetric: TPMT_SYM_DEF = noSymmetric,
        scheme: TPMT_ECC_SCHEME = noEllipticScheme
    ) -> TPM2B_PUBLIC {
        var detail = TPMS_ECC_PARMS()
        detail.symmetric = symmetric
        detail.scheme = scheme
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
