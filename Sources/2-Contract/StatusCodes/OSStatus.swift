/// A status code of the Security framework; 0 is success.
public typealias OSStatus = Int32
/// The status code of success, as older code spells it.
public let noErr: OSStatus = 0

/// What the status codes mean, one table for each family.
package enum StatusMessages {
    /// What a code means, or `OSStatus` and the number when it is not known.
    package static func text(for status: OSStatus) -> String {
        families.lazy.compactMap { $0[status] }.first ?? "OSStatus \(status)"
    }

    private static let families = [keychain, certificates, modules, attributes, verification, tls]
}
