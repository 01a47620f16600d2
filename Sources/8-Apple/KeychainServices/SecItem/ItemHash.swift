import Bytes
import Crypto
import Foundation
import KeychainModel

extension StoredItem {
    /// The item's `sha1`: 20 bytes that change with any attribute or with the value.
    ///
    /// SHA-1 names contents here and protects nothing. Each field is preceded by its length, so that no two
    /// items run together to the same bytes.
    var contentHash: Data {
        var hash = Insecure.SHA1()
        func add(_ bytes: Data) {
            withUnsafeBytes(of: UInt64(clamping: bytes.count).bigEndian) { hash.update(bufferPointer: $0) }
            hash.update(data: bytes)
        }
        let schema = itemClass.schema
        add(Data(itemClass.rawValue.utf8))
        add(Data(accessGroup.utf8))
        add(Data(accessControl.protection.rawValue.utf8))
        add(Data([isSynchronizable ? 1 : 0]))
        for (name, value) in attributes {
            add(Data(name.string.utf8))
            add(Data(value.canonicalBytes(as: schema[name]?.kind ?? .blob)))
        }
        if let value { add(value) }
        return Data(hash.finalize())
    }
}
