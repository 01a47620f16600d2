import Certificates
import FoundationEssentials
import KeyCryptography

extension VaultKey {
    /// Whether the key says that it does `operation` with this algorithm. For RSA that says more than it does; see
    /// ``KeyAlgorithm/isSupported(for:byKeyOf:_:sizeInBits:)``.
    package func supports(_ name: KeyAlgorithmName, for operation: KeyOperation) -> Bool {
        name.algorithm.map { isSupported($0, for: operation) } ?? false
    }

    /// Signs a message or a digest.
    package func sign(_ input: Data, by name: KeyAlgorithmName) throws(KeyError) -> Data {
        guard case .signature(let algorithm) = try algorithm(name, for: .sign) else { throw .notThisOperation }
        return try privateOperations().sign(input, by: algorithm)
    }

    /// Whether a signature is the key's for this message or digest.
    package func isValid(_ signature: Data, of input: Data, by name: KeyAlgorithmName) throws(KeyError) -> Bool {
        guard case .signature(let algorithm) = try algorithm(name, for: .verify) else { throw .notThisOperation }
        try require(.public)
        return try publicOperations().isValid(signature, of: input, by: algorithm)
    }

    /// Encrypts for the holder of the private key.
    package func encrypt(_ plaintext: Data, by name: KeyAlgorithmName) throws(KeyError) -> Data {
        guard case .encryption(let algorithm) = try algorithm(name, for: .encrypt) else { throw .notThisOperation }
        try require(.public)
        return try publicOperations().encrypt(plaintext, by: algorithm)
    }

    /// Decrypts what was encrypted for the key.
    package func decrypt(_ ciphertext: Data, by name: KeyAlgorithmName) throws(KeyError) -> Data {
        guard case .encryption(let algorithm) = try algorithm(name, for: .decrypt) else { throw .notThisOperation }
        try require(.private)
        return try privateOperations().decrypt(ciphertext, by: algorithm)
    }

    /// What the key and somebody's public key share.
    ///
    /// - Parameter derivation: How many bytes to derive and what goes into the derivation; called only for algorithms
    ///   that derive.
    package func exchange(
        with peer: VaultKey, by name: KeyAlgorithmName,
        derivation: () throws(KeyError) -> (requestedSize: Int, sharedInfo: Data)
    ) throws(KeyError) -> Data {
        guard case .keyExchange(let algorithm) = try algorithm(name, for: .keyExchange) else {
            throw .notThisOperation
        }
        try peer.require(.public)
        // Where nothing is derived there is nothing to say about it.
        let parameters = algorithm.derivation == nil ? (0, Data()) : try derivation()
        return try privateOperations().exchange(
            with: peer.keyData, by: algorithm, requestedSize: parameters.0, sharedInfo: parameters.1)
    }

    /// What an algorithm's name stands for, if the key does this with it.
    private func algorithm(_ name: KeyAlgorithmName, for operation: KeyOperation) throws(KeyError) -> KeyAlgorithm {
        guard let known = name.algorithm, isSupported(known, for: operation) else {
            throw .unsupported(
                reason: "The key does not \(operation.verb) with \(name.rawValue); ask SecKeyIsAlgorithmSupported.")
        }
        return known
    }

    private func isSupported(_ algorithm: KeyAlgorithm, for operation: KeyOperation) -> Bool {
        algorithm.isSupported(for: operation, byKeyOf: keyData.type, keyClass, sizeInBits: keyData.sizeInBits)
    }

    /// Refuses what a half claims to support and only the other can do.
    private func require(_ half: KeyData.KeyClass) throws(KeyError) {
        switch (half, keyClass) {
        case (.public, .public), (.private, .private): return
        case (.public, .private): throw .unsupported(reason: "This is a private key; use its public key.")
        case (.private, .public): throw .unsupported(reason: "This is a public key; it takes the private key.")
        }
    }
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

extension KeyError {
    /// Not reached: an algorithm that a key supports for an operation is one of that operation.
    fileprivate static let notThisOperation = KeyError.unsupported(reason: "The algorithm is for another operation.")
}
