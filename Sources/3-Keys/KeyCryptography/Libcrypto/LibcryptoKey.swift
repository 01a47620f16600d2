import Bytes
import FoundationEssentials

/// A key of libcrypto.
final class LibcryptoKey: Sendable {
    // Safe to share between threads: the key never changes after it is made, and libcrypto lets any number of contexts
    // use it, each on one thread. `deinit` frees it, when no other reference exists.
    nonisolated(unsafe) private let key: OpaquePointer
    let library: Libcrypto

    private init(_ key: OpaquePointer, of library: Libcrypto) {
        self.key = key
        self.library = library
    }

    deinit {
        library.freeKey(key)
    }

    /// The kind of key in a DER encoding.
    enum Form {
        /// PKCS#1 for RSA, SEC 1 for curves.
        case privateKey(type: Int32)
        /// PKCS#1.
        case rsaPublicKey
        case publicKeyInfo
    }

    /// - Throws: ``KeyError/invalidInput(reason:)`` if libcrypto does not accept the key.
    convenience init(der: UnsafeRawBufferPointer, as form: Form) throws(KeyError) {
        let library = try Libcrypto.shared()
        var position = der.bindMemory(to: UInt8.self).baseAddress
        let key =
            switch form {
            case .privateKey(Libcrypto.rsa): library.decodeRSAPrivateKey(&position, der.count)
            case .privateKey(let type): library.decodePrivateKey(type, nil, &position, der.count)
            case .rsaPublicKey: library.decodePublicKey(Libcrypto.rsa, nil, &position, der.count)
            case .publicKeyInfo: library.decodePublicKeyInfo(nil, &position, der.count)
            }
        guard let key else {
            library.forgetErrors()
            throw .invalidInput(reason: "OpenSSL does not take this for a key.")
        }
        self.init(key, of: library)
    }

    /// Makes a new key, with the options of `EVP_PKEY_CTX_ctrl_str`.
    convenience init(random type: Int32, _ options: [(name: String, value: String)]) throws(KeyError) {
        let library = try Libcrypto.shared()
        guard let context = library.newContextForType(type, nil) else { throw library.failure("make a key") }
        defer { library.freeContext(context) }
        var key: OpaquePointer?
        guard library.startGeneration(context) == 1,
            options.allSatisfy({ library.setOption(context, $0.name, $0.value) > 0 }),
            library.generate(context, &key) == 1, let key
        else { throw library.failure("make a key") }
        self.init(key, of: library)
    }

    /// Returns the private key in DER: PKCS#1 for RSA, SEC 1 for curves.
    func privateEncoding() throws(KeyError) -> SecretBytes {
        let count = library.encodePrivateKey(key, nil)
        guard count > 0 else { throw library.failure("encode a key") }
        return try SecretBytes.filled(count: Int(count)) { (bytes) throws(KeyError) in
            var position = bytes.bindMemory(to: UInt8.self).baseAddress
            guard position != nil, library.encodePrivateKey(key, &position) == count else {
                throw library.failure("encode a key")
            }
        }
    }

    /// Returns the public key: PKCS#1 for RSA, the point for curves.
    func publicEncoding() throws(KeyError) -> Data {
        let count = library.encodePublicKey(key, nil)
        guard count > 0 else { throw library.failure("encode a key") }
        var encoding = Data(count: Int(count))
        try encoding.withMutableBytes { (bytes) throws(KeyError) in
            var position = bytes.bindMemory(to: UInt8.self).baseAddress
            guard position != nil, library.encodePublicKey(key, &position) == count else {
                throw library.failure("encode a key")
            }
        }
        return encoding
    }

    /// Returns whether the two halves of the key match, and for RSA, whether its other parts do, too.
    func isConsistent() throws(KeyError) -> Bool {
        let context = try context("check a key")
        defer { library.freeContext(context) }
        let isConsistent = library.checkPair(context) == 1
        if !isConsistent { library.forgetErrors() }
        return isConsistent
    }

    // MARK: Operations

    /// The steps of an operation that transforms bytes.
    struct Transformation {
        let name: String
        let start: Libcrypto.Start
        let run: Libcrypto.Transform
        var options: [(name: String, value: String)] = []
    }

    /// Returns the result of a transformation; nil if libcrypto refuses the input.
    func transform(_ input: Data, _ steps: Transformation, greatestCount: Int) throws(KeyError) -> Data? {
        var output = Data(count: greatestCount)
        defer { output.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        let context = try context(steps.name)
        defer { library.freeContext(context) }
        guard steps.start(context) == 1, setAll(steps.options, of: context) else {
            throw library.failure(steps.name)
        }
        let count = output.withUnsafeMutableBytes { output in
            input.withUnsafeBytes { input -> Int? in
                var count = output.count
                let status = steps.run(
                    context, output.bindMemory(to: UInt8.self).baseAddress, &count, input.bytesOrEmpty, input.count)
                return status == 1 ? count : nil
            }
        }
        guard let count else {
            library.forgetErrors()
            return nil
        }
        return Data.wipedWhenFreed(Data(output.prefix(count)))
    }

    func isValid(
        _ signature: Data, of input: Data, options: [(name: String, value: String)] = []
    ) throws(KeyError) -> Bool {
        let context = try context("verify a signature")
        defer { library.freeContext(context) }
        guard library.startVerifying(context) == 1, setAll(options, of: context) else {
            throw library.failure("verify a signature")
        }
        let status = signature.withUnsafeBytes { signature in
            input.withUnsafeBytes { input in
                library.verify(context, signature.bytesOrEmpty, signature.count, input.bytesOrEmpty, input.count)
            }
        }
        if status != 1 { library.forgetErrors() }
        return status == 1
    }

    /// Returns the x coordinate of the shared point of this private key and a public key.
    func sharedSecret(with peer: LibcryptoKey, count: Int) throws(KeyError) -> SecretBytes {
        let context = try context("agree on a key")
        defer { library.freeContext(context) }
        guard library.startDeriving(context) == 1, library.setPeer(context, peer.key) == 1 else {
            library.forgetErrors()
            throw .notOnCurve
        }
        return try SecretBytes.filled(count: count) { (bytes) throws(KeyError) in
            var derived = count
            guard library.derive(context, bytes.bindMemory(to: UInt8.self).baseAddress, &derived) == 1,
                derived == count
            else { throw library.failure("agree on a key") }
        }
    }

    private func setAll(_ options: [(name: String, value: String)], of context: OpaquePointer) -> Bool {
        options.allSatisfy { library.setOption(context, $0.name, $0.value) > 0 }
    }

    /// Returns a context for an operation of the key. The caller frees it.
    private func context(_ operation: String) throws(KeyError) -> OpaquePointer {
        guard let context = library.newContext(key, nil) else { throw library.failure(operation) }
        return context
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes; nil for none, which libcrypto accepts with a count of 0.
    fileprivate var bytesOrEmpty: UnsafePointer<UInt8>? { bindMemory(to: UInt8.self).baseAddress }
}
