import Foundation
import KeyCryptography
import VaultKeys

/// The result of an operation on a key, or nil with its error where the caller wants that.
func keyResult<Value>(
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?, _ operation: () throws -> Value
) -> Value? {
    do {
        return try operation()
    } catch let failure {
        store((failure as? KeyError)?.osStatus ?? errSecInternal, "\(failure)", in: error)
        return nil
    }
}
