import Bytes
import Foundation

/// An error of this framework: the status code in Foundation's domain for status codes.
package func securityError(_ status: OSStatus, _ description: String) -> CFError {
    NSError(
        domain: NSOSStatusErrorDomain, code: Int(status), userInfo: [NSLocalizedDescriptionKey: description])
}

/// An error whose description is the one that Foundation makes of Apple's `text`. What it means here is the reason of
/// the failure.
private func securityError(_ status: OSStatus, _ description: String, text: String) -> CFError {
    NSError(
        domain: NSOSStatusErrorDomain, code: Int(status),
        userInfo: [
            NSLocalizedDescriptionKey: "The operation couldn’t be completed. (OSStatus error \(status) - \(text))",
            NSLocalizedFailureReasonErrorKey: description,
            kCFErrorDescriptionKey.description: text,
        ])
}

/// Stores an error where a caller of Apple's functions wants it; the caller releases it.
///
/// - Parameter text: Apple's text, which programs may compare; nil if it is not known.
package func store(
    _ status: OSStatus, _ description: String, text: String? = nil,
    in error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) {
    error?.pointee = Unmanaged.passRetained(
        text.map { securityError(status, description, text: $0) } ?? securityError(status, description))
}
