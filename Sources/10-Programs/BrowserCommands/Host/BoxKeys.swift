import Bytes
import CSodium
import FoundationEssentials
import SecureMemory

/// The keys of one agreement with the extension: NaCl's box, which is X25519 with XSalsa20-Poly1305.
struct BoxKeys: Sendable {
    /// Our public key.
    let publicKey: Data
    private let shared: LockedBytes

    /// Makes a new key pair, and agrees with the public key of the extension.
    ///
    /// - Returns: Nil for bytes that are no public key.
    /// - Throws: ``SecureMemoryError`` if there is no memory for keys.
    init?(with peer: Data) throws {
        guard peer.count == crypto_box_publickeybytes() else { return nil }
        var own = [UInt8](repeating: 0, count: crypto_box_publickeybytes())
        let secret = try LockedBytes(count: crypto_box_secretkeybytes()) { secret in
            guard let start = secret.bindMemory(to: UInt8.self).baseAddress else { return }
            crypto_box_keypair(&own, start)
        }
        var isAgreed = false
        let peer = [UInt8](peer)
        shared = try LockedBytes(count: crypto_box_beforenmbytes()) { shared in
            guard let start = shared.bindMemory(to: UInt8.self).baseAddress else { return }
            isAgreed = secret.withUnsafeBytes { secret in
                guard let secret = secret.bindMemory(to: UInt8.self).baseAddress else { return false }
                // It fails for the points that agree on the same key with everybody.
                return crypto_box_beforenm(start, peer, secret) == 0
            }
        }
        guard isAgreed else { return nil }
        publicKey = Data(own)
    }

    func seal(_ message: Data, _ nonce: BoxNonce) -> Data? {
        let message = [UInt8](message)
        var sealed = [UInt8](repeating: 0, count: message.count + crypto_box_macbytes())
        let status = shared.withUnsafeBytes { shared in
            shared.bindMemory(to: UInt8.self).baseAddress.map {
                crypto_box_easy_afternm(&sealed, message, UInt64(clamping: message.count), nonce.bytes, $0)
            }
        }
        return status == 0 ? Data(sealed) : nil
    }

    /// - Returns: Nil if the message was not sealed by the other side with this nonce.
    func open(_ sealed: Data, _ nonce: BoxNonce) -> Data? {
        guard sealed.count >= crypto_box_macbytes() else { return nil }
        let sealed = [UInt8](sealed)
        var message = [UInt8](repeating: 0, count: sealed.count - crypto_box_macbytes() + 1)
        let status = shared.withUnsafeBytes { shared in
            shared.bindMemory(to: UInt8.self).baseAddress.map {
                crypto_box_open_easy_afternm(&message, sealed, UInt64(clamping: sealed.count), nonce.bytes, $0)
            }
        }
        return status == 0 ? Data(message.dropLast()) : nil
    }
}

/// The number of a message, which no other message under the same keys has.
struct BoxNonce: Sendable, Hashable {
    fileprivate let bytes: [UInt8]

    /// - Parameter text: 24 bytes in Base64.
    init?(_ text: String) {
        guard text.utf8.count == 32, let bytes = Data(base64Encoded: text), bytes.count == crypto_box_noncebytes()
        else { return nil }
        self.bytes = [UInt8](bytes)
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// The nonce of the answer.
    var next: BoxNonce {
        var next = bytes
        sodium_increment(&next, next.count)
        return BoxNonce(bytes: next)
    }

    var text: String { Data(bytes).base64EncodedString() }
}
