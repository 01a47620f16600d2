import Foundation

/// A short description of a status code, for people.
///
/// - Parameters:
///   - status: A status code of this framework.
///   - reserved: For future use; pass `nil`.
/// - Returns: What the code means, or `OSStatus` and the number when it is not known.
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
    StatusMessages.text(for: status) as NSString
}

/// What the status codes mean, one table for each family.
enum StatusMessages {
    static func text(for status: OSStatus) -> String {
        families.lazy.compactMap { $0[status] }.first ?? "OSStatus \(status)"
    }

    private static let families = [keychain, certificates, modules, attributes, verification]
}
