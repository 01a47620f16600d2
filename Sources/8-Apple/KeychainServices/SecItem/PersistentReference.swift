import Bytes
import Foundation
import KeychainModel

/// A persistent reference: data with which an item is found again, whatever its attributes become.
///
/// 20 bytes: the class's four ASCII characters and the item's 16-byte identifier. An older form of 12
/// bytes, the class and a big-endian row number, is recognised; no item of this keychain has one.
struct PersistentReference: Equatable {
    private static let length = 4 + 16
    private static let legacyLength = 4 + 8

    let itemClass: ItemClass
    /// Nil for the older form.
    let identifier: UUID?

    init(itemClass: ItemClass, identifier: UUID) {
        self.itemClass = itemClass
        self.identifier = identifier
    }

    init?(_ data: Data) {
        guard data.count == Self.length || data.count == Self.legacyLength,
            let itemClass = ItemClass(rawValue: String(decoding: data.prefix(4), as: UTF8.self))
        else { return nil }
        self.itemClass = itemClass
        if data.count == Self.length {
            var bytes = uuid_t(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
            withUnsafeMutableBytes(of: &bytes) { $0.copyBytes(from: data.suffix(16)) }
            identifier = UUID(uuid: bytes)
        } else {
            identifier = nil
        }
    }

    /// The identifier to search for. No item has the identifier of all zeros, so that a reference of the
    /// older form finds nothing.
    var searchedIdentifier: UUID {
        identifier ?? UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    }

    var data: Data {
        var data = Data(capacity: Self.length)
        data.append(contentsOf: itemClass.rawValue.utf8)
        withUnsafeBytes(of: searchedIdentifier.uuid) { data.append(contentsOf: $0) }
        return data
    }
}
