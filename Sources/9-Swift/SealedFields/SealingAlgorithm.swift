/// The algorithm that seals a value: an authenticated cipher (AEAD) with a key of 256 bits and a random nonce of 96.
public struct SealingAlgorithm: Sendable, Hashable, CustomStringConvertible {
    /// The number in the sealed value.
    let number: UInt8

    /// ChaCha20-Poly1305 (RFC 8439). The default.
    public static let chaChaPoly = SealingAlgorithm(number: 1)
    /// AES-256-GCM (NIST SP 800-38D).
    public static let aesGCM = SealingAlgorithm(number: 2)

    static let all: [SealingAlgorithm] = [.chaChaPoly, .aesGCM]

    /// The name, such as `ChaCha20-Poly1305`.
    public var description: String {
        switch number {
        case 1: "ChaCha20-Poly1305"
        case 2: "AES-256-GCM"
        default: "algorithm \(number)"
        }
    }
}
