import Certificates
import Foundation
import VaultKeys

/// A cryptographic key. Two objects are equal when they are the same half of the same key.
///
/// Neither the description nor reflection shows secret bytes.
public final class SecKey: Sendable {
    /// The key, as it is without Apple's names.
    package let key: VaultKey

    package init(_ key: VaultKey) { self.key = key }

    package convenience init(_ keyData: KeyData) {
        self.init(VaultKey(keyData))
    }

    /// The key with this external representation; nil if it is none of the given type and class, which
    /// are numbers as in `kSecAttrKeyType` and `kSecAttrKeyClass`.
    package convenience init?(bytes: Data, type: Int, keyClass: Int) {
        guard let key = VaultKey(bytes: bytes, type: type, keyClass: keyClass) else { return nil }
        self.init(key)
    }

    /// The key; of a private key that is kept elsewhere, the public half.
    package var keyData: KeyData { key.keyData }
    /// Where the private half is kept if that is not in this object.
    package var kept: KeptKey? { key.kept }
    package var keyClass: KeyData.KeyClass { key.keyClass }

    /// The public half; of a public key, the key itself.
    package var publicKey: SecKey { keyClass == .public ? self : SecKey(key.publicKey) }
}

extension SecKey: Hashable, CustomDebugStringConvertible {
    /// Whether both are the same half of the same key.
    public static func == (left: SecKey, right: SecKey) -> Bool { left.key == right.key }

    public func hash(into hasher: inout Hasher) { hasher.combine(keyData.publicRepresentation) }

    /// The kind of key, its size and the hash of its public half.
    public var debugDescription: String {
        kept == nil ? "<SecKey \(keyData)>" : "<SecKey private half of \(keyData)>"
    }
}
