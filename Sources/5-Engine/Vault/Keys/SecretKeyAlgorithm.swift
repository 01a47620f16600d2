import Bytes
import CAEAD
import FoundationEssentials
import KeyCryptography
import KeychainModel

/// What a secret key does with a message.
enum SecretKeyAlgorithm: Sendable, Equatable {
    /// AES-GCM (NIST SP 800-38D), with a tag of this many bytes.
    case gcm(tagSize: Int)
    /// AES-CBC (NIST SP 800-38A), without or with the padding of PKCS #7.
    case cbc(isPadded: Bool)
    /// AES key wrap (RFC 3394), or the one with padding (RFC 5649).
    case wrap(isPadded: Bool)
    /// HMAC (RFC 2104).
    case hmac(Hash)

    enum Hash: String, Sendable {
        case sha1 = "SHA1"
        case sha224 = "SHA224"
        case sha256 = "SHA256"
        case sha384 = "SHA384"
        case sha512 = "SHA512"
    }

    /// The algorithm of a name (Documentation/Specify/Protocol.md); nil for another name.
    init?(rawValue: String) {
        switch rawValue {
        case "AES:CBC": self = .cbc(isPadded: false)
        case "AES:CBC:PKCS7": self = .cbc(isPadded: true)
        case "AES:KW": self = .wrap(isPadded: false)
        case "AES:KWP": self = .wrap(isPadded: true)
        default:
            if rawValue.hasPrefix("HMAC:"), let hash = Hash(rawValue: String(rawValue.dropFirst(5))) {
                self = .hmac(hash)
                return
            }
            let prefix = "AES:GCM:"
            guard rawValue.hasPrefix(prefix), let bits = Int(rawValue.dropFirst(prefix.count)), bits % 8 == 0,
                (32...128).contains(bits)
            else { return nil }
            self = .gcm(tagSize: bits / 8)
        }
    }

    /// Apple's number of the type of keys that do this (`kSecAttrKeyTypeAES`); 0 for HMAC, which has none.
    var keyType: Int64 {
        if case .hmac = self { 0 } else { Self.aes }
    }

    static let aes: Int64 = 0x8000_0001

    /// Returns whether there are keys of this type and size.
    static func isValid(keyType: Int64, byteCount: Int) -> Bool {
        keyType == aes ? [16, 24, 32].contains(byteCount) : keyType == 0 && (1...longestKey).contains(byteCount)
    }

    /// No key of HMAC is longer.
    private static let longestKey = 1024

    /// Encrypts or decrypts.
    ///
    /// - Parameters:
    ///   - context: The nonce of GCM or the vector of CBC.
    ///   - binding: What GCM authenticates besides.
    /// - Throws: ``KeyError/invalidInput(reason:)`` for a length that the algorithm does not take,
    ///   ``KeyError/undecipherable`` for a ciphertext that was not made so with this key.
    func transform(
        _ input: Data, encrypts: Bool, with key: Data, context: Data, binding: Data
    ) throws(KeyError) -> Data {
        guard let cipher else { throw .unsupported(reason: "A key of HMAC cannot encrypt or decrypt.") }
        let room = input.count + SECRET_GROWTH
        var count = room
        var result = SECRET_UNAVAILABLE
        // Wiped when it is freed: it may be plaintext or a key.
        let output: SecretBytes
        do {
            output = try SecretBytes(count: room) { output in
                guard let base = output.baseAddress else { return }
                result = transform(input, cipher, encrypts, key, context, binding, base, &count)
            }
        } catch {
            throw .memoryUnavailable
        }
        switch result {
        case SECRET_DONE: return output.withUnsafeBytes { Data.wipedWhenFreed(Data($0.prefix(count))) }
        case SECRET_REFUSED: throw .invalidInput(reason: "The algorithm takes no input or vector of this length.")
        case SECRET_DAMAGED: throw .undecipherable
        default: throw .memoryUnavailable
        }
    }

    private func transform(
        _ input: Data, _ cipher: secret_cipher, _ encrypts: Bool, _ key: Data, _ context: Data, _ binding: Data,
        _ output: UnsafeMutableRawPointer, _ count: inout Int
    ) -> secret_result {
        withBytes(of: key) { key in
            withBytes(of: input) { text in
                withBytes(of: context) { context in
                    withBytes(of: binding) { binding in
                        var message = secret_message(text: text, vector: context, binding: binding, tag_count: tagSize)
                        return secret_key_transform(cipher, encrypts, key, &message, output, &count)
                    }
                }
            }
        }
    }

    /// Returns the HMAC of a message.
    func code(of message: Data, with key: Data) throws(KeyError) -> Data {
        guard case .hmac(let hash) = self else { throw .unsupported(reason: "A key of AES does not sign; use HMAC.") }
        var code = [UInt8](repeating: 0, count: 64)
        let count = withBytes(of: key) { key in
            withBytes(of: message) { message in
                secret_key_authenticate(hash.function, key, message.bytes, message.count, &code)
            }
        }
        guard count > 0 else { throw .memoryUnavailable }
        return Data(code.prefix(count))
    }

    private var cipher: secret_cipher? {
        switch self {
        case .gcm: SECRET_AES_GCM
        case .cbc(let isPadded): isPadded ? SECRET_AES_CBC_PADDED : SECRET_AES_CBC
        case .wrap(let isPadded): isPadded ? SECRET_AES_WRAP_PADDED : SECRET_AES_WRAP
        case .hmac: nil
        }
    }

    private var tagSize: Int {
        if case .gcm(let size) = self { size } else { 0 }
    }

    private func withBytes<Result>(of data: Data, _ body: (secret_bytes) -> Result) -> Result {
        data.withUnsafeBytes {
            body(secret_bytes(bytes: $0.baseAddress?.assumingMemoryBound(to: UInt8.self), count: $0.count))
        }
    }
}

extension SecretKeyAlgorithm.Hash {
    fileprivate var function: secret_hash {
        switch self {
        case .sha1: SECRET_SHA1
        case .sha224: SECRET_SHA224
        case .sha256: SECRET_SHA256
        case .sha384: SECRET_SHA384
        case .sha512: SECRET_SHA512
        }
    }
}
