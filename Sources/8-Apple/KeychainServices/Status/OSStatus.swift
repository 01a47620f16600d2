import Foundation
@_exported import StatusCodes

/// A short description of a status code, for people.
///
/// - Parameters:
///   - status: A status code of this framework.
///   - reserved: For future use; pass `nil`.
/// - Returns: What the code means, or `OSStatus` and the number when it is not known.
@discardableResult
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
    StatusMessages.text(for: status) as NSString
}
