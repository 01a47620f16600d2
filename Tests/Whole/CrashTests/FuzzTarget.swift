import Foundation
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// A vault folder whose files a test damages, and what was stored in it.
struct FuzzTarget {
    private let folder: TemporaryFolder
    let originals: [UUID: StoredItem]
    /// What items were before the last writes: a log that is cut short leaves these.
    let former: [UUID: StoredItem]
    /// The files of the closed vault.
    let closed: FolderContents
    /// The files of the vault while its last writes were in the log alone.
    let open: FolderContents

    /// The name of the item store.
    let store: String

    var path: String { folder.path(of: "vault") }

    init() throws {
        folder = try TemporaryFolder()
        let path = folder.path(of: "vault")
        func fill() throws -> (FolderContents, former: [UUID: StoredItem], present: [UUID: StoredItem]) {
            let vault = try EmbeddedVault.open(at: path)
            for item in FixtureItems.all { _ = try vault.add(item, as: FixtureItems.client) }
            let former = try vault.allItems()
            try FixtureItems.change(vault)
            return (try FolderContents(of: path), former, try vault.allItems())
        }
        (open, former, originals) = try fill()
        closed = try FolderContents(of: path)
        store = try ItemStoreFile.name(inVault: path)
    }

    enum Answer: Equatable {
        case refused(VaultError)
        case items(Int)
    }

    /// Opens the vault as it is on disk and asks everything of it: whatever it gives back must be what
    /// was stored, and what it stores now must come back.
    ///
    /// - Parameter mayBeOld: Whether items may be what they were before the last writes.
    @discardableResult func probe(_ what: @autoclosure () -> String, mayBeOld: Bool = false) throws -> Answer {
        try withDeadline(what()) {
            var refusal: VaultError?
            guard let vault = attempt({ try EmbeddedVault.open(at: path) }, refusal: &refusal) else {
                return .refused(try #require(refusal))
            }
            var count = 0
            for itemClass in ItemClass.stored {
                let query = ItemQuery(itemClass: itemClass, synchronizable: .any)
                let found = attempt({ try vault.items(query, as: .owner) }, refusal: &refusal) ?? []
                for item in found { #expect(isRight(item, mayBeOld: mayBeOld), "\(what())") }
                count += found.count
            }
            for original in originals.values {
                let query = ItemQuery(
                    itemClass: original.itemClass, attributes: original.attributes,
                    synchronizable: original.isSynchronizable ? .synchronizableOnly : .localOnly)
                let found = attempt({ try vault.items(query, as: .owner) }, refusal: &refusal) ?? []
                for item in found { #expect(isRight(item, mayBeOld: mayBeOld), "\(what())") }
            }
            for line in attempt({ try vault.verify(as: .owner).problems }, refusal: &refusal) ?? [] {
                #expect(!line.isEmpty)
            }
            _ = attempt({ try vault.status(as: .owner) }, refusal: &refusal)
            if attempt({ try vault.add(.password("new", "item", "value"), as: .app) }, refusal: &refusal) != nil,
                let found = attempt({ try vault.items(.password("new", "item")) }, refusal: &refusal)
            {
                // An index that is damaged may hide an item; it may not change it.
                #expect(found.allSatisfy { $0.value == Data("value".utf8) }, "\(what())")
            }
            return .items(count)
        }
    }

    private func isRight(_ item: StoredItem, mayBeOld: Bool) -> Bool {
        item == originals[item.identifier] || (mayBeOld && item == former[item.identifier])
    }

    /// The answer of `body`, or nil and the reason.
    private func attempt<Result>(_ body: () throws -> Result, refusal: inout VaultError?) -> Result? {
        do {
            return try body()
        } catch {
            refusal = error as? VaultError
            #expect(refusal?.description.isEmpty == false, "\(error)")
            return nil
        }
    }
}
