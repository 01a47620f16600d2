import SystemLibraries

/// The reason why a key refused an operation.
///
/// No case holds anything of the key's secret or of the data.
package enum KeyError: Error {
    /// The key cannot do this with this algorithm because of its type, class or size.
    case unsupported(reason: String)
    /// The data, the key or a parameter does not have the form that the algorithm needs.
    case invalidInput(reason: String)
    /// The cryptogram was made for another key or was changed.
    case undecipherable
    /// The system's cryptographic library is missing or too old.
    case libraryMissing(SystemLibraryError)
    /// The library failed for its own reason.
    case failed(operation: String)
    case memoryUnavailable
    /// The holder of the key refused, such as an enclave whose vault is locked.
    case refused(any Error)
}

extension KeyError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unsupported(let reason), .invalidInput(let reason): reason
        case .undecipherable: "The data was not encrypted for this key with this algorithm, or it was changed."
        case .libraryMissing(let error): "This key needs OpenSSL 3: \(error)."
        case .failed(let operation): "The cryptographic library could not \(operation)."
        case .memoryUnavailable: "There is no memory for the key: free some and try again."
        case .refused(let error): "The key is not available: \(error)."
        }
    }
}
