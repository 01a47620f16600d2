import CPKCS11
import KeyClient
import PlainBytes

/// A private key of a session: in this process alone, and gone with the session.
// Safe to share between threads: BoringSSL's keys are, once they are made (openssl/evp.h), and nothing changes them.
final class SessionKey: @unchecked Sendable {
    private let key: OpaquePointer

    private init(_ key: OpaquePointer?) throws(TokenError) {
        guard let key else { throw TokenError(.attributeValueInvalid) }
        self.key = key
    }

    deinit { kc_key_free(key) }

    /// Makes a new key.
    static func made(_ family: KeyFamily, sizeInBits: UInt32) throws(TokenError) -> SessionKey {
        switch family {
        case .rsa: try SessionKey(kc_key_make_rsa(sizeInBits))
        case .ellipticCurve: try SessionKey(kc_key_make_curve(sizeInBits))
        case .edwards: try SessionKey(kc_key_make_edwards())
        case .mldsa, .mlkem, .aes, .genericSecret: throw TokenError(.templateInconsistent)
        }
    }

    /// Reads the private key that a template has.
    init(_ family: KeyFamily, sizeInBits: UInt32, _ template: AttributeList) throws(TokenError) {
        let made: OpaquePointer?
        switch family {
        case .rsa:
            let types = [Attribute.modulus, Attribute.publicExponent, Attribute.privateExponent] + Attribute.primes
            var numbers: [[UInt8]] = []
            for type in types {
                guard let number = template.values[type] else { throw TokenError(.templateIncomplete) }
                numbers.append(number)
            }
            made = numbers.withBytes { kc_key_from_numbers($0) }
        case .ellipticCurve:
            guard let scalar = template.values[Attribute.value] else { throw TokenError(.templateIncomplete) }
            made = scalar.withUnsafeBytes { kc_key_from_scalar(sizeInBits, kc_bytes($0)) }
        case .edwards:
            guard let seed = template.values[Attribute.value] else { throw TokenError(.templateIncomplete) }
            made = seed.withUnsafeBytes { kc_key_from_seed(kc_bytes($0)) }
        case .mldsa, .mlkem, .aes, .genericSecret: throw TokenError(.templateInconsistent)
        }
        guard let made else { throw TokenError(.attributeValueInvalid) }
        key = made
    }

    /// The public half, in the form of the vault's public keys.
    func publicHalf(_ family: KeyFamily) throws(TokenError) -> ClientKeyObject {
        let info = try written { kc_key_info(key, $0) }
        let numbers =
            family == .rsa
            ? [try written { kc_key_number(key, 0, $0) }, try written { kc_key_number(key, 1, $0) }] : []
        return try ClientKeyObject(family, keyInfo: info, numbers: numbers)
    }

    /// The private half in the form that the vault takes.
    func secret() throws(TokenError) -> [UInt8] { try written { kc_key_secret(key, $0) } }

    func signature(_ mechanism: Mechanism, _ data: UnsafeRawBufferPointer) throws(TokenError) -> [UInt8] {
        try written { kc_key_sign(key, mechanism.scheme, mechanism.hash?.function ?? KC_NO_HASH, kc_bytes(data), $0) }
    }

    func plaintext(_ mechanism: Mechanism, _ data: UnsafeRawBufferPointer) throws(TokenError) -> [UInt8] {
        var isDone: Int32 = 0
        var out = [UInt8](repeating: 0, count: Int(KC_LONGEST))
        let count = kc_key_decrypt(
            key, mechanism.scheme, mechanism.hash?.function ?? KC_NO_HASH, kc_bytes(data), &out, &isDone)
        guard isDone == 1 else { throw TokenError(.encryptedDataInvalid) }
        return Array(out.prefix(count))
    }

    func sharedSecret(with point: UnsafeRawBufferPointer) throws(TokenError) -> [UInt8] {
        do throws(TokenError) {
            return try written { kc_key_agree(key, kc_bytes(point), $0) }
        } catch {
            throw TokenError(.mechanismParameterInvalid)
        }
    }
}

/// What a function of CPKCS11 writes.
func written(_ write: (UnsafeMutablePointer<UInt8>) -> Int) throws(TokenError) -> [UInt8] {
    var out = [UInt8](repeating: 0, count: Int(KC_LONGEST))
    defer { out.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
    let count = out.withUnsafeMutableBufferPointer { room in room.baseAddress.map(write) ?? 0 }
    guard count > 0 else { throw TokenError(.functionFailed) }
    return Array(out.prefix(count))
}

extension ClientKeyObject {
    /// A public key from its SubjectPublicKeyInfo.
    ///
    /// - Parameter numbers: Of an RSA key, its modulus and its exponent.
    init(_ family: KeyFamily, keyInfo: [UInt8], numbers: [[UInt8]]) throws(TokenError) {
        let sizes: (bits: Int, point: Int)
        switch family {
        case .rsa: sizes = (8 * (numbers.first?.count ?? 0), 0)
        // The point is the end of the encoding: 91, 120 and 158 bytes on the curves of SEC 2 (RFC 5480).
        case .ellipticCurve: sizes = keyInfo.count < 100 ? (256, 65) : keyInfo.count < 140 ? (384, 97) : (521, 133)
        case .edwards: sizes = (256, 32)
        case .mldsa, .mlkem, .aes, .genericSecret: throw TokenError(.templateInconsistent)
        }
        self.init(
            kind: .publicKey, keyType: family.number, sizeInBits: sizes.bits,
            publicKey: Array(keyInfo.suffix(sizes.point)), keyInfo: keyInfo, parts: numbers)
    }
}

extension kc_bytes {
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), count: bytes.count)
    }
}

extension [[UInt8]] {
    /// Runs `body` with all of them as C has them.
    fileprivate func withBytes<Result>(
        _ given: [kc_bytes] = [], _ body: (UnsafePointer<kc_bytes>) -> Result?
    ) -> Result? {
        guard given.count < count else {
            return given.withUnsafeBufferPointer { $0.baseAddress.flatMap(body) }
        }
        return self[given.count].withUnsafeBytes { withBytes(given + [kc_bytes($0)], body) }
    }
}
