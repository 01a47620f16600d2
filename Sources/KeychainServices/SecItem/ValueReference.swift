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

    /// The attributes that tell the item from every other: those of its primary key. The rest may have
    /// been set differently when the item was stored.
    var searchAttributes: [AttributeName: AttributeValue] {
        switch self {
        case .item(let item):
            Self.primaryKey(of: item)
        case .identity(let certificate, let key):
            Self.primaryKey(of: certificate).merging(Self.primaryKey(of: key).filter { $0.key == .applicationLabel }) {
                first, _ in first
            }
        }
    }

    private static func primaryKey(of item: any ItemReference) -> [AttributeName: AttributeValue] {
        let schema = item.itemClass.schema
        return item.storedAttributes.filter { schema[$0.key]?.isPrimaryKey == true }
    }
}
