import Foundation
import KeychainServices

/// The objects of `KeychainServices` that cases name.
enum ConformanceReferences {
    /// The names that the matcher `kind` knows.
    static let kinds: [String: CFTypeID] = [
        "SecAccessControl": SecAccessControlGetTypeID(),
        "SecCertificate": SecCertificateGetTypeID(),
        "SecIdentity": SecIdentityGetTypeID(),
        "SecKey": SecKeyGetTypeID(),
    ]

    static func policy(named name: String) throws(ConformanceProblem) -> AnyObject {
        guard name == "basicX509" else { throw .unknown("policy", name) }
        return SecPolicyCreateBasicX509()
    }
}
