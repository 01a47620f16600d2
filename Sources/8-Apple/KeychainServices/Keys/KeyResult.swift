import Foundation
import KeyCryptography
import VaultKeys

/// The result of an operation on a key, or nil with its error where the caller wants that.
///
/// - Parameter text: Apple's text for a failure; nil if it is not known.
func keyResult<Value>(
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?, text: (any Error) -> String? = { _ in nil },
    _ operation: () throws -> Value
) -> Value? {
    do {
        return try operation()
    } catch let failure {
        let status = (failure as? KeyError)?.osStatus ?? errSecInternal
        store(status, "\(failure)", text: text(failure), in: error)
        return nil
    }
}
