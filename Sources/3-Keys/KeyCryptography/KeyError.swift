import SystemLibraries

/// Why a key does not do what it was asked.
///
/// No case says anything about the key's secret or about the data.
package enum KeyError: Error {
    /// The key cannot do this with this algorithm, for its kind, class or size.
    case unsupported(reason: String)
    /// The data, the key or a parameter is not of the form that the algorithm needs.
    case invalidInput(reason: String)
    /// A cryptogram that was not made for this key, or was changed.
    case undecipherable
    /// The cryptographic library of the system is not there or too old.
    case libraryMissing(SystemLibraryError)
    /// The library could not do it, for a reason of its own.
    case failed(operation: String)
    case memoryUnavailable
    /// Whoever keeps the key refuses, such as an enclave whose vault is locked.
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
