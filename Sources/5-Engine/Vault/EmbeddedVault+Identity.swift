import Access
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import Sealing
import VaultInterface

/// Identities. An identity is a private key and a certificate with the same public key.
extension EmbeddedVault {
    package func perform(_ operation: AddIdentity, as client: Client) throws(VaultError) {
        let (certificate, key) = (operation.certificate, operation.key)
        let forCertificate = try authorize(AccessRequest(.add, certificate), as: client, recordedAs: .written)
        let authorization = try authorize(AccessRequest(.add, key), as: client, recordedAs: .written)
        _ = try performing(authorization, asking: key.authentication, items: { $0 }) { presence in
            let halves = [try newItem(certificate, forCertificate), try newItem(key, authorization)]
            return try writing(for: authorization) { writer, keybag in
                var added = 0
                for half in halves {
                    try keybag.keys.checkAvailable(half.accessControl.protection)
                    guard try liveRow(withPrimaryKeyOf: half, in: writer, keybag) == nil else { continue }
                    try makeRoom(for: keybag.primaryKey(of: half), of: half.itemClass, in: writer, keybag)
                    try insert(half, presence, in: writer, keybag)
                    added += 1
                }
                guard added > 0 else { throw VaultError.duplicateItem }
                return added
            }
        }
    }

    func identities(
        _ query: ItemQuery, _ authorization: Authorization, _ presence: PresenceCheck, includingValues: Bool,
        in reader: ItemStore.Reader, _ keybag: OpenedKeybag, report: @escaping (CopyItems.Part) -> Void
    ) throws -> [StoredItem] {
        if query.limit == 0 { return [] }
        var found: [StoredItem] = []
        for pair in try pairs(query, authorization, presence, in: reader, keybag, report: report) {
            var identity = pair.certificate.item
            identity.itemClass = .identity
            identity.attributes = pair.key.item.attributes.merging(pair.certificate.item.attributes) { $1 }
            identity.identityKey = .init(
                identifier: pair.key.item.identifier, attributes: pair.key.item.attributes,
                value: pair.key.item.value)
            found.append(identity)
            if let limit = query.limit, found.count >= limit { break }
        }
        return found
    }

    /// Deletes the certificates of the identities, and each key that no other certificate refers to.
    func deleteIdentities(
        _ query: ItemQuery, _ authorization: Authorization, referrers: Authorization
    ) throws -> Int {
        try writing(for: authorization) { writer, keybag in
            let pairs = try self.pairs(query, authorization, .waived, in: writer.reader, keybag)
            guard !pairs.isEmpty else { throw VaultError.itemNotFound }
            for row in Self.distinct(pairs.map(\.certificate.row)) {
                try self.remove(row, opened: nil, in: writer, keybag)
            }
            for row in Self.distinct(pairs.map(\.key.row)) {
                guard let key = pairs.first(where: { $0.key.row == row })?.key.item,
                    let label = key.attributes[.applicationLabel],
                    try self.certificates(withKeyHash: label, referrers, .waived, in: writer.reader, keybag)
                        .isEmpty
                else { continue }
                try self.remove(row, opened: key, in: writer, keybag)
            }
            return pairs.count
        }
    }

    private struct Pair {
        var certificate: Found
        var key: Found
    }

    private func pairs(
        _ query: ItemQuery, _ authorization: Authorization, _ presence: PresenceCheck, in reader: ItemStore.Reader,
        _ keybag: OpenedKeybag, report: @escaping (CopyItems.Part) -> Void = { _ in }
    ) throws -> [Pair] {
        // If certificate and key both have an attribute, the identity has the certificate's value.
        let certificateSchema = ItemClass.certificate.schema
        var certificateQuery = query
        certificateQuery.itemClass = .certificate
        certificateQuery.limit = nil
        certificateQuery.attributes = query.attributes.filter { certificateSchema[$0.key] != nil }
        let keyAttributes = query.attributes.filter { certificateSchema[$0.key] == nil }

        var pairs: [Pair] = []
        for certificate in try items(
            certificateQuery, authorization, presence, includingValues: true, in: reader, keybag, report: report)
        {
            guard let hash = certificate.item.attributes[.publicKeyHash] else { continue }
            var keyQuery = ItemQuery(itemClass: .key, attributes: keyAttributes, authentication: query.authentication)
            keyQuery.attributes[.applicationLabel] = hash
            keyQuery.attributes[.isPrivate] = .number(1)
            keyQuery.accessGroup = query.accessGroup
            keyQuery.synchronizable = query.synchronizable
            for key in try items(keyQuery, authorization, presence, includingValues: true, in: reader, keybag) {
                pairs.append(Pair(certificate: certificate, key: key))
            }
        }
        return pairs
    }

    private func certificates(
        withKeyHash hash: AttributeValue, _ authorization: Authorization, _ presence: PresenceCheck,
        in reader: ItemStore.Reader,
        _ keybag: OpenedKeybag
    ) throws -> [Found] {
        let query = ItemQuery(
            itemClass: .certificate, attributes: [.publicKeyHash: hash], synchronizable: .any)
        return try items(query, authorization, presence, includingValues: false, in: reader, keybag)
    }

    private static func distinct(_ rows: [ItemRow]) -> [ItemRow] {
        var seen: Set<Int64> = []
        return rows.filter { seen.insert($0.binding.rowID).inserted }
    }
}
