import Foundation
import KeychainModel

/// A key, certificate or identity given as ``kSecValueRef``.
enum ValueReference {
    case item(any ItemReference)
    case identity(certificate: any ItemReference, key: any ItemReference)

    init?(_ value: Any) {
        if let item = value as? any ItemReference {
            self = .item(item)
        } else if let identity = value as? SecIdentity {
            self = .identity(certificate: identity.certificate, key: identity.key)
        } else {
            return nil
        }
    }

    var itemClass: ItemClass {
        switch self {
        case .item(let item): item.itemClass
        case .identity: .identity
        }
    }

    /// What finds the item, whatever other attributes were set when it was stored. An identity is found by
    /// its certificate, which names the key.
    var searchAttributes: ItemAttributes {
        switch self {
        case .item(let item): item.identifyingAttributes
        case .identity(let certificate, _): certificate.identifyingAttributes
        }
    }
}
