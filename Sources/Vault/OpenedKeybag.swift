import Foundation
import Keybag
import Sealing
import Synchronization

/// The keys a vault works with at a moment; replaced as a whole when the vault is erased.
final class OpenedKeybag: Sendable {
    let identifier: UUID
    let keys: ClassKeys
    let index: IndexKey
    private let groups = Mutex<[String: Int64]>([:])

    init(_ keys: ClassKeys) {
        identifier = keys.keybag.identifier
        self.keys = keys
        index = IndexKey(keys.indexKey)
    }

    /// The digest of an access group; a program names the same few again and again.
    func groupDigest(_ group: String) -> Int64 {
        groups.withLock { known in
            if let digest = known[group] { return digest }
            if known.count >= 256 { known.removeAll() }
            let digest = index.group(group)
            known[group] = digest
            return digest
        }
    }
}
