import Bytes
import Crypto
import FoundationEssentials
import KeychainModel
import PreparedKeys

/// Makes keyed digests of attribute values for the item store. Equal values give equal digests, and without the key a
/// digest reveals nothing about its value.
///
/// HMAC-SHA256 (RFC 2104) truncated: to 64 bits for search terms, whose hits are checked against the opened attributes,
/// and to 128 bits for primary keys.
package struct IndexKey: Sendable {
    private let key: PreparedHMAC

    package init(_ key: SymmetricKey) { self.key = PreparedHMAC(key) }

    /// Returns the term of one attribute's value.
    package func term(_ name: AttributeName, _ value: AttributeValue, in itemClass: ItemClass) -> Int64 {
        digest(itemClass, name) {
            value.appendCanonicalBytes(as: itemClass.schema[name]?.kind ?? .blob, to: &$0)
        }
    }

    /// Returns the term of a custom attribute.
    package func term(ofCustom name: String, _ value: String, in itemClass: ItemClass) -> Int64 {
        digest(itemClass, "cust") { message in
            for text in [name, value] {
                message.append(bigEndian: UInt32(truncatingIfNeeded: text.utf8.count))
                message.append(contentsOf: text.utf8)
            }
        }
    }

    /// Returns the term of an access group, which is the same for every class.
    package func group(_ group: String) -> Int64 {
        truncatedCode(of: Array("group".utf8) + Array(group.utf8))
    }

    /// Returns the term that all items of a class in a group share, for listings.
    ///
    /// - Parameter isClosed: Whether it is for the items that need an unlocking, or for the others.
    package func listing(_ itemClass: ItemClass, group: Int64, isClosed: Bool) -> Int64 {
        digest(itemClass, isClosed ? "clos" : "list") { $0.append(bigEndian: group) }
    }

    /// Returns the term of the attributes that most searches use together: service and account, or server and account.
    /// With it, finding one item does not visit all items of a service.
    ///
    /// Returns nil if the class has no such pair, or if `attributes` lacks a part of it.
    package func lookup(_ itemClass: ItemClass, _ attributes: ItemAttributes) -> Int64? {
        guard let names = itemClass.lookupPair, let first = attributes[names.first],
            let second = attributes[names.second]
        else { return nil }
        let schema = itemClass.schema
        return digest(itemClass, "pair") { message in
            Self.append(first, as: schema[names.first]?.kind ?? .blob, to: &message)
            Self.append(second, as: schema[names.second]?.kind ?? .blob, to: &message)
        }
    }

    /// Returns the digest of a whole primary key: 16 bytes.
    ///
    /// - Parameter attributes: All primary-key attributes that differ from their defaults.
    package func primaryKey(
        _ itemClass: ItemClass, accessGroup: String, isSynchronizable: Bool,
        attributes: ItemAttributes
    ) -> Data {
        var message: [UInt8] = [0x70, itemClass.storedCode, isSynchronizable ? 1 : 0]
        message.append(bigEndian: UInt32(truncatingIfNeeded: accessGroup.utf8.count))
        message.append(contentsOf: accessGroup.utf8)
        for definition in itemClass.schema.primaryKey {
            guard definition.name != .accessGroup, definition.name != .synchronizable else { continue }
            guard let value = attributes[definition.name] ?? definition.defaultValue else { continue }
            message.append(bigEndian: definition.name.code)
            Self.append(value, as: definition.kind, to: &message)
        }
        return key.authenticate(message) { Data($0.prefix(16)) }
    }

    /// Appends the length and the canonical bytes of `value`.
    private static func append(_ value: AttributeValue, as kind: AttributeKind, to message: inout [UInt8]) {
        let start = message.count
        message.append(bigEndian: UInt32(0))
        value.appendCanonicalBytes(as: kind, to: &message)
        let size = UInt32(truncatingIfNeeded: message.count - start - 4)
        message.withUnsafeMutableBytes { $0.baseAddress?.store(bigEndian: size, at: start) }
    }

    private func digest(
        _ itemClass: ItemClass, _ name: AttributeName, _ appendBytes: (inout [UInt8]) -> Void
    ) -> Int64 {
        var message: [UInt8] = []
        message.reserveCapacity(96)
        message.append(0x74)
        message.append(itemClass.storedCode)
        message.append(bigEndian: name.code)
        appendBytes(&message)
        return truncatedCode(of: message)
    }

    private func truncatedCode(of message: [UInt8]) -> Int64 { key.authenticate(message) { $0.bigEndian() } }
}

extension ItemClass {
    /// The attributes that searches for one item usually use together.
    package var lookupPair: (first: AttributeName, second: AttributeName)? {
        switch self {
        case .genericPassword: (.service, .account)
        case .internetPassword: (.server, .account)
        case .certificate, .key, .identity: nil
        }
    }
}
