import Foundation
import KeychainModel
import TestSupport
import Testing
import Vault

/// A vault folder whose files a test damages, and what was stored in it.
struct FuzzTarget {
    private let folder: TemporaryFolder
    let originals: [UUID: StoredItem]
    /// The files of the closed vault.
    let closed: FolderContents
    /// The files of the vault while its last writes were in the log alone.
    let open: FolderContents

    var path: String { folder.path(of: "vault") }

    init() throws {
        folder = try TemporaryFolder()
        let path = folder.path(of: "vault")
        func fill() throws -> (FolderContents, [UUID: StoredItem]) {
            let vault = try EmbeddedVault.open(at: path)
            for item in FixtureItems.all { _ = try vault.add(item, as: FixtureItems.client) }
            try FixtureItems.change(vault)
            return (try FolderContents(of: path), try vault.allItems())
        }
        (open, originals) = try fill()
        closed = try FolderContents(of: path)
    }

    enum Answer: Equatable {
        case refused(VaultError)
        case items(Int)
    }

    /// Opens the vault as it is on disk and asks everything of it: whatever it gives back must be what
    /// was stored, and what it stores now must come back.
    @discardableResult func probe(_ what: @autoclosure () -> String) throws -> Answer {
        try withDeadline(60, what()) {
            let vault: EmbeddedVault
            do {
                vault = try EmbeddedVault.open(at: path)
            } catch {
                #expect(!error.description.isEmpty)
                return .refused(error)
            }
            var count = 0
            for itemClass in ItemClass.stored {
                do {
                    for item in try vault.items(ItemQuery(itemClass: itemClass, synchronizable: .any), as: .owner) {
                        #expect(item == originals[item.identifier], "\(what())")
                        count += 1
                    }
                } catch {
                    #expect(!error.description.isEmpty)
                }
            }
            for original in originals.values {
                let query = ItemQuery(
                    itemClass: original.itemClass, attributes: original.attributes,
                    synchronizable: original.isSynchronizable ? .synchronizableOnly : .localOnly)
                do {
                    for item in try vault.items(query, as: .owner) {
                        #expect(item == originals[item.identifier], "\(what())")
                    }
                } catch {
                    #expect(!error.description.isEmpty)
                }
            }
            do {
                for line in try vault.verify(as: .owner).problems { #expect(!line.isEmpty) }
                _ = try vault.status(as: .owner)
            } catch {
                #expect(!error.description.isEmpty)
            }
            do {
                _ = try vault.add(.password("new", "item", "value"), as: .app)
                let found = try vault.copy(.password("new", "item"), includingValues: true, as: .app)
                #expect(found.map(\.value) == [Data("value".utf8)], "\(what())")
            } catch {
                #expect(!error.description.isEmpty)
            }
            return .items(count)
        }
    }
}
