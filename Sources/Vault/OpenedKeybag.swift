import Foundation
import Keybag
import Sealing

/// The keys a vault works with at a moment; replaced as a whole when the vault is erased.
struct OpenedKeybag: Sendable {
    let identifier: UUID
    let keys: ClassKeys
    let index: IndexKey

    init(_ keys: ClassKeys) {
        identifier = keys.keybag.identifier
        self.keys = keys
        index = IndexKey(keys.indexKey)
    }
}
