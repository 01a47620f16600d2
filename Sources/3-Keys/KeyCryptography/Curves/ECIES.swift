import Bytes
import Certificates
import Crypto
import FoundationEssentials

/// Encryption for the holder of a key on a curve, with exactly the bytes of Apple's `SecKey`.
///
/// The cryptogram is E ‖ ciphertext ‖ tag. E is the public half, as `04 ‖ X ‖ Y`, of a key pair for this one message.
/// The KDF of ANSI X9.63 derives the AES key from the shared secret, with E as the shared information: 128 bits for
/// curves of up to 256 bits, 256 bits for larger ones. The nonce of AES-GCM has 16 bytes: zeros, or the KDF's output
/// after the key. A nonce of zeros is safe, because each key encrypts only one message.
struct ECIES {
    static let nonceByteCount = 16
    static let tagByteCount = 16

    let curve: EllipticCurve
    let digest: DigestAlgorithm
    let derivesNonce: Bool

    func encrypt(_ plaintext: Data, for point: Data) throws(KeyError) -> Data {
        let ephemeral = try curve.ephemeralKey()
        let ephemeralPoint = ephemeral.point
        let secret = try ephemeral.sharedSecret(with: point)
        let (key, nonce) = try derive(from: secret, ephemeralPoint: ephemeralPoint)
        return try ephemeralPoint + AESGCM.seal(plaintext, under: key, nonce: nonce)
    }

    func decrypt(_ cryptogram: Data, with privateKey: some CurvePrivateKey) throws(KeyError) -> Data {
        guard cryptogram.count >= curve.publicByteCount + Self.tagByteCount else { throw .undecipherable }
        let point = Data(cryptogram.prefix(curve.publicByteCount))
        let secret: SecretBytes
        do {
            secret = try privateKey.sharedSecret(with: point)
        } catch .invalidInput {
            throw .undecipherable
        } catch {
            throw error
        }
        let (key, nonce) = try derive(from: secret, ephemeralPoint: point)
        return try AESGCM.open(cryptogram.dropFirst(point.count), under: key, nonce: nonce)
    }

    private func derive(
        from secret: SecretBytes, ephemeralPoint: Data
    ) throws(KeyError) -> (key: SymmetricKey, nonce: Data) {
        let keyByteCount = curve.sizeInBits <= 256 ? 16 : 32
        let derived = try X963KeyDerivation(digest: digest).derive(
            count: keyByteCount + (derivesNonce ? Self.nonceByteCount : 0), from: secret, sharedInfo: ephemeralPoint)
        return derived.withUnsafeBytes { bytes in
            let key = SymmetricKey(data: UnsafeRawBufferPointer(rebasing: bytes.prefix(keyByteCount)))
            let nonce = derivesNonce ? Data(bytes.dropFirst(keyByteCount)) : Data(count: Self.nonceByteCount)
            return (key, nonce)
        }
    }
}

/// AES-GCM with the tag after the ciphertext.
enum AESGCM {
    private static let tagByteCount = 16

    static func seal(
        _ plaintext: Data, under key: SymmetricKey, nonce: Data, authenticating header: Data = Data()
    ) throws(KeyError) -> Data {
        do {
            let box = try AES.GCM.seal(
                plaintext, using: key, nonce: AES.GCM.Nonce(data: nonce), authenticating: header)
            return box.ciphertext + box.tag
        } catch {
            throw .failed(operation: "encrypt with AES-GCM")
        }
    }

    static func open(
        _ sealed: Data, under key: SymmetricKey, nonce: Data, authenticating header: Data = Data()
    ) throws(KeyError) -> Data {
        do {
            let box = try AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: nonce), ciphertext: sealed.dropLast(tagByteCount),
                tag: sealed.suffix(tagByteCount))
            return .wipedWhenFreed(try AES.GCM.open(box, using: key, authenticating: header))
        } catch {
            throw .undecipherable
        }
    }
}
