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

    /// There are no policies yet; the keychain looks at no more of one than that it is an object.
    static func policy(named name: String) throws(ConformanceProblem) -> AnyObject {
        guard name == "basicX509" else { throw .unknown("policy", name) }
        return NSObject()
    }
}
