import Foundation
import KeychainModel
import VaultKeys

/// An object that stands for an item, as `kSecValueRef` takes and `kSecReturnRef` gives it.
package protocol ItemReference: AnyObject {
    var itemClass: ItemClass { get }
    /// What is stored when the object is added; attributes the caller gives take precedence.
    var storedAttributes: ItemAttributes { get }
    /// What finds the object's item again, whatever other attributes were set when it was added.
    var identifyingAttributes: ItemAttributes { get }
    /// The value that is stored: for private keys the secret.
    var storedValue: Data { get }
}

/// Makes objects of stored items.
package enum ItemReferences {
    /// The object for an item whose value was read; nil for passwords, and for keys and certificates
    /// whose stored value is none.
    ///
    /// - Parameter use: On whose behalf a key of the enclave will be used.
    static func reference(for item: StoredItem, use: KeyUse = KeyUse()) -> AnyObject? {
        switch item.itemClass {
        case .genericPassword, .internetPassword:
            return nil
        case .certificate:
            return certificate(item.value)
        case .key:
            return key(item.value, attributes: item.attributes, use)
        case .identity:
            guard let half = item.identityKey, let certificate = certificate(item.value),
                let key = key(half.value, attributes: half.attributes, use)
            else { return nil }
            return SecIdentity(certificate: certificate, key: key)
        }
    }

    private static func certificate(_ value: Data?) -> SecCertificate? {
        value.flatMap(SecCertificate.init(der:))
    }

    private static func key(
        _ value: Data?, attributes: ItemAttributes, _ use: KeyUse
    ) -> SecKey? {
        VaultKey.stored(value, attributes: attributes, use).map { SecKey($0) }
    }
}
