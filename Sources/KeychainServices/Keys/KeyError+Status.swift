import Certificates
import Foundation
import KeyCryptography
import VaultInterface

extension KeyError {
    /// The status with which Apple's functions report this error.
    var osStatus: OSStatus {
        switch self {
        case .unsupported, .invalidInput, .undecipherable: errSecParam
        case .libraryMissing: errSecUnimplemented
        case .failed: errSecInternal
        case .memoryUnavailable: errSecAllocate
        case .refused(let error): (error as? VaultError)?.osStatus ?? errSecNotAvailable
        }
    }
}

/// The result of an operation on a key, or nil with its error where the caller wants that.
func keyResult<Value>(
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?, _ operation: () throws(KeyError) -> Value
) -> Value? {
    do throws(KeyError) {
        return try operation()
    } catch let failure {
        store(failure.osStatus, failure.description, in: error)
        return nil
    }
}

extension SecKey {
    /// What an algorithm's name stands for, if the key does this with it.
    func algorithm(_ algorithm: SecKeyAlgorithm, for operation: KeyOperation) throws(KeyError) -> KeyAlgorithm {
        guard let known = algorithm.keyAlgorithm, isSupported(known, for: operation) else {
            throw .unsupported(
                reason: "The key does not \(operation.verb) with \(algorithm.rawValue); ask SecKeyIsAlgorithmSupported."
            )
        }
        return known
    }

    func isSupported(_ algorithm: KeyAlgorithm, for operation: KeyOperation) -> Bool {
        algorithm.isSupported(for: operation, byKeyOf: keyData.type, keyClass, sizeInBits: keyData.sizeInBits)
    }

    /// Refuses what a half claims to support and only the other can do.
    func require(_ half: KeyHalf) throws(KeyError) {
        switch (half, keyClass) {
        case (.public, .public), (.private, .private): return
        case (.public, .private): throw .unsupported(reason: "This is a private key; use its public key.")
        case (.private, .public): throw .unsupported(reason: "This is a public key; it takes the private key.")
        }
    }

    enum KeyHalf { case `public`, `private` }
}

extension KeyOperation {
    fileprivate var verb: String {
        switch self {
        case .sign: "sign"
        case .verify: "verify"
        case .encrypt: "encrypt"
        case .decrypt: "decrypt"
        case .keyExchange: "agree on keys"
        }
    }
}
