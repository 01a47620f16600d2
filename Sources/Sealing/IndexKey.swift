import Crypto
import Foundation
import KeychainModel

/// Keyed digests that stand for attribute values in the item store: equal values give equal digests,
/// and without the key a digest says nothing about its value.
///
/// HMAC-SHA256 (RFC 2104) truncated: 64 bits for search terms, whose hits are verified against the
/// opened attributes, and 128 bits for primary keys.
package struct IndexKey: Sendable {
    private let key: SymmetricKey

    package init(_ key: SymmetricKey) {
        self.key = key
    }

    /// The term of one attribute's value.
    package func term(_ name: AttributeName, _ value: AttributeValue, in itemClass: ItemClass) -> Int64 {
        let kind = itemClass.schema[name]?.kind ?? .blob
        return digest(itemClass, name, value.canonicalBytes(as: kind))
    }

    /// The term of an access group, the same for every class.
    package func group(_ group: String) -> Int64 {
        var mac = HMAC<SHA256>(key: key)
        mac.update(data: Data("group".utf8))
        mac.update(data: Data(group.utf8))
        return Self.truncate(mac.finalize())
    }

    /// The term shared by all items of a class in a group, for listings.
    package func listing(_ itemClass: ItemClass, group: Int64) -> Int64 {
        digest(itemClass, "list", withUnsafeBytes(of: group.bigEndian) { Data($0) })
    }

    /// The term of the attributes that most searches name together, so that finding one item does not
    /// walk all items of a service: service and account, server and account, or a key's tag.
    ///
    /// Nil when the class has no such pair or `attributes` does not hold all of it.
    package func lookup(_ itemClass: ItemClass, _ attributes: [AttributeName: AttributeValue]) -> Int64? {
        let names = itemClass.lookupAttributes
        guard !names.isEmpty else { return nil }
        var joined = Data()
        for name in names {
            guard let value = attributes[name] else { return nil }
            let bytes = value.canonicalBytes(as: itemClass.schema[name]?.kind ?? .blob)
            joined.append(bigEndian: UInt32(truncatingIfNeeded: bytes.count))
            joined.append(bytes)
        }
        return digest(itemClass, "pair", joined)
    }

    /// The digest of a whole primary key: 16 bytes.
    ///
    /// - Parameter attributes: Every primary-key attribute that differs from its default.
    package func primaryKey(
        _ itemClass: ItemClass, accessGroup: String, isSynchronizable: Bool,
        attributes: [AttributeName: AttributeValue]
    ) -> Data {
        var joined = Data([0x70, itemClass.storedCode, isSynchronizable ? 1 : 0])
        joined.append(bigEndian: UInt32(truncatingIfNeeded: accessGroup.utf8.count))
        joined.append(contentsOf: accessGroup.utf8)
        for definition in itemClass.schema.primaryKey {
            guard definition.name != .accessGroup, definition.name != .synchronizable else { continue }
            guard let value = attributes[definition.name] ?? definition.defaultValue else { continue }
            let bytes = value.canonicalBytes(as: definition.kind)
            joined.append(bigEndian: definition.name.code)
            joined.append(bigEndian: UInt32(truncatingIfNeeded: bytes.count))
            joined.append(bytes)
        }
        return Data(HMAC<SHA256>.authenticationCode(for: joined, using: key).prefix(16))
    }

    private func digest(_ itemClass: ItemClass, _ name: AttributeName, _ bytes: Data) -> Int64 {
        var message = Data(capacity: bytes.count + 6)
        message.append(contentsOf: [0x74, itemClass.storedCode])
        message.append(bigEndian: name.code)
        message.append(bytes)
        return Self.truncate(HMAC<SHA256>.authenticationCode(for: message, using: key))
    }

    private static func truncate(_ code: HMAC<SHA256>.MAC) -> Int64 {
        code.withUnsafeBytes { Int64(bigEndian: $0.loadUnaligned(as: Int64.self)) }
    }
}

extension ItemClass {
    /// The attributes that searches for one item usually name together.
    package var lookupAttributes: [AttributeName] {
        switch self {
        case .genericPassword: [.service, .account]
        case .internetPassword: [.server, .account]
        case .certificate, .key, .identity: []
        }
    }
}
