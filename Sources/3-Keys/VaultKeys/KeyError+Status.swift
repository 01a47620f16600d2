import KeyCryptography
import StatusCodes
import VaultInterface

extension KeyError {
    /// The status that Apple's functions return for this error.
    package var osStatus: OSStatus {
        switch self {
        case .unsupported, .invalidInput, .undecipherable: errSecParam
        case .libraryMissing: errSecUnimplemented
        case .failed: errSecInternal
        case .memoryUnavailable: errSecAllocate
        case .refused(let error): (error as? VaultError)?.osStatus ?? errSecNotAvailable
        }
    }
}
