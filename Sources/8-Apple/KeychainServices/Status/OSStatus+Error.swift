import Bytes
import Foundation

/// An error of this framework: the status code in Foundation's domain for status codes.
package func securityError(_ status: OSStatus, _ description: String) -> CFError {
    NSError(
        domain: NSOSStatusErrorDomain, code: Int(status), userInfo: [NSLocalizedDescriptionKey: description])
}

/// Stores an error where a caller of Apple's functions wants it; the caller releases it.
package func store(
    _ status: OSStatus, _ description: String, in error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) {
    error?.pointee = Unmanaged.passRetained(securityError(status, description))
}
