import CTSS2
import Foundation

/// The public areas that objects are made from (Part 2, section 12.2).
enum Template {
    /// The storage root key: P-256 with AES-128 in CFB mode, as TCG's provisioning guidance has it, with nothing in its
    /// unique field. Whoever makes a primary key from this on the same TPM gets the same key.
    static let storageRootKey: TPM2B_PUBLIC = {
        var template = elliptic([
            .fixedTPM, .fixedParent, .sensitiveDataOrigin, .userWithAuth, .noDA, .restricted, .decrypt,
        ])
        template.publicArea.parameters.eccDetail.symmetric = symmetric
        return template
    }()

    /// The same under the endorsement hierarchy, whose seed survives a clearing: it tells a cleared TPM from another.
    static let identity = storageRootKey

    /// The device secret: a key for HMAC-SHA256 that the TPM makes and never shows.
    static let deviceSecret: TPM2B_PUBLIC = {
        var template = keyedHash([.fixedTPM, .fixedParent, .sensitiveDataOrigin, .userWithAuth, .noDA, .sign])
        template.publicArea.parameters.keyedHashDetail.scheme.scheme = Algorithm.hmac
        template.publicArea.parameters.keyedHashDetail.scheme.details.hmac.hashAlg = Algorithm.sha256
        return template
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
        symmetric.keyBits.aes = 128
        symmetric.mode.aes = Algorithm.cfb
        return symmetric
    }

    private static func elliptic(_ attributes: ObjectAttributes) -> TPM2B_PUBLIC {
        var template = area(Algorithm.ecc, attributes)
        template.publicArea.parameters.eccDetail.symmetric.algorithm = Algorithm.null
        template.publicArea.parameters.eccDetail.scheme.scheme = Algorithm.null
        template.publicArea.parameters.eccDetail.curveID = Algorithm.p256
        template.publicArea.parameters.eccDetail.kdf.scheme = Algorithm.null
        return template
    }

    private static func keyedHash(_ attributes: ObjectAttributes) -> TPM2B_PUBLIC {
        var template = area(Algorithm.keyedHash, attributes)
        template.publicArea.parameters.keyedHashDetail.scheme.scheme = Algorithm.null
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
