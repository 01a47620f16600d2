#if TLSSupport
import Foundation
import KeychainServices

/// Says why a program could not use a key or a certificate of the keychain.
public struct KeychainKeyError: Error, CustomStringConvertible {
    /// The keychain's status; `errSecParam` if the keychain was not asked.
    public let status: OSStatus
    /// What happened, and the reason that the keychain gives.
    public let description: String

    /// An error of a program that was found before the keychain was asked.
    public init(_ description: String) {
        status = errSecParam
        self.description = description
    }

    init(_ what: String, _ status: OSStatus) {
        self.status = status
        description = [what, SecCopyErrorMessageString(status, nil) as String?].compactMap(\.self).joined(
            separator: " ")
    }

    init(_ what: String, _ failure: Unmanaged<CFError>?) {
        let reason = failure?.takeRetainedValue()
        status = reason.map { OSStatus($0.code) } ?? errSecParam
        description = [what, reason?.localizedDescription].compactMap(\.self).joined(separator: " ")
    }
}
#endif
