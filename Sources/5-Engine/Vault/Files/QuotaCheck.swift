import Access
import Items
import KeychainModel
import VaultInterface

/// Checks what a program writes against what its access groups may hold.
struct QuotaCheck {
    private let quotas: GroupQuotas

    init(_ quotas: GroupQuotas) { self.quotas = quotas }

    /// Makes sure that no group has grown beyond its quota. What lets a group shrink is allowed whatever it holds.
    ///
    /// - Throws: ``VaultError/quotaExceeded(group:limit:)``.
    func check(_ writer: ItemStore.Writer, _ keybag: OpenedKeybag) throws {
        for (group, growth) in writer.touched.growth where growth > 0 {
            guard let name = writer.touched.names[group], let limit = quotas.bytes(of: name) else { continue }
            let listings = ItemClass.stored.flatMap { keybag.listings(of: $0, in: [group]) }
            guard try writer.bytes(ofGroup: group, filedUnder: listings) <= limit else {
                throw VaultError.quotaExceeded(group: name, limit: limit)
            }
        }
    }
}
