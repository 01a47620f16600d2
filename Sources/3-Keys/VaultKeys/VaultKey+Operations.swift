import Certificates
import FoundationEssentials
import KeyCryptography

extension VaultKey {
    /// Returns whether the key claims to support `operation` with this algorithm. An RSA key claims more than it
    /// supports; see ``KeyAlgorithm/isSupported(for:byKeyOf:_:sizeInBits:)``.
    package func supports(_ name: KeyAlgorithmName, for operation: KeyOperation) -> Bool {
        name.algorithm.map { isSupported($0, for: operation) } ?? false
    }

    /// Signs a message or a digest.
    package func sign(_ input: Data, by name: KeyAlgorithmName) throws(KeyError) -> Data {
        guard case .signature(let algorithm) = try algorithm(name, for: .sign) else { throw .notThisOperation }
        return try privateOperations().sign(input, by: algorithm)
    }

    /// Returns whether this key made the signature for this message or digest.
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

    /// Decrypts a ciphertext that was encrypted for the key.
    package func decrypt(_ ciphertext: Data, by name: KeyAlgorithmName) throws(KeyError) -> Data {
        guard case .encryption(let algorithm) = try algorithm(name, for: .decrypt) else { throw .notThisOperation }
        try require(.private)
        return try privateOperations().decrypt(ciphertext, by: algorithm)
    }

    /// Returns the shared secret of this key and another party's public key.
    ///
    /// - Parameter derivation: Returns the number of bytes to derive and the shared info. Called only for algorithms
    ///   that derive.
    package func exchange(
        with peer: VaultKey, by name: KeyAlgorithmName,
        derivation: () throws(KeyError) -> (requestedSize: Int, sharedInfo: Data)
    ) throws(KeyError) -> Data {
        guard case .keyExchange(let algorithm) = try algorithm(name, for: .keyExchange) else {
            throw .notThisOperation
        }
        try peer.require(.public)
        // An algorithm without derivation takes no parameters.
        let parameters = algorithm.derivation == nil ? (0, Data()) : try derivation()
        return try privateOperations().exchange(
            with: peer.keyData, by: algorithm, requestedSize: parameters.0, sharedInfo: parameters.1)
    }

    /// Returns the algorithm of a name, if the key supports it for this operation.
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

    /// Throws if the operation needs the other half of the key.
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
    /// Never thrown: an algorithm that a key supports for an operation belongs to that operation.
    fileprivate static let notThisOperation = KeyError.unsupported(reason: "The algorithm is for another operation.")
}
