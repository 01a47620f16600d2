import Access
import Foundation
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

@testable import Sealing

/// An item has dates of the years 1 to 9999 only, so that each frontend can show them in its own protocol. Dates of
/// earlier software are read as the nearest of these.
@Suite struct DateRangeTests {
    /// Seconds since 1970.
    static let impossible: [Double] = [
        .nan, .signalingNaN, .infinity, -.infinity, 1e308, -1e308, 1.8446744073709552e19, 0x1p63, -0x1p63, 0x1p53, 1e15,
        253_402_300_800, -62_135_769_601,
    ]
    static let possible: [Double] = [0, -0.0, .leastNonzeroMagnitude, 253_402_300_799.5, -62_135_769_600, 1e9, -1e9]

    private let vault: EmbeddedVault
    private static let refusal = VaultError.invalidRequest(reason: Date.notStorable)

    init() throws { vault = try memoryVault() }

    private func stored(_ change: (inout StoredItem) -> Void) -> ReceiveItems {
        var item = StoredItem(
            itemClass: .genericPassword, identifier: UUID(),
            attributes: [.service: .string("s"), .account: .string("r")],
            accessGroup: "TEAM.app", accessControl: AccessControl(protection: .afterFirstUnlock),
            isSynchronizable: false, creationDate: Date(), modificationDate: Date(), value: Data())
        change(&item)
        return ReceiveItems([item], accessGroup: nil, keepsIdentity: true)
    }

    /// Every way in which a date comes into a vault.
    private func operations(_ date: Date) -> [() throws -> Void] {
        var new = NewItem.password("s", "new", "v")
        new.expiry = .at(date)
        var dated = NewItem.password("s", "dated", "v")
        dated.attributes[.creationDate] = .date(date)
        var changes = ItemChanges()
        changes.expiry = .at(date)
        let query = ItemQuery.password("s", "there")
        return [
            { [vault] in _ = try vault.add(new, as: .app) }, { [vault] in _ = try vault.put(new, as: .app) },
            { [vault] in _ = try vault.exchange(new, expecting: nil, as: .app) },
            { [vault] in _ = try vault.put(dated, as: .app) },
            { [vault] in _ = try vault.update(query, with: changes, as: .app) },
            { [vault] in
                _ = try vault.update(query, with: ItemChanges(attributes: [.creationDate: .date(date)]), as: .app)
            },
            { [vault] in _ = try vault.perform(stored { $0.creationDate = date }, as: .app) },
            { [vault] in _ = try vault.perform(stored { $0.modificationDate = date }, as: .app) },
            { [vault] in _ = try vault.perform(stored { $0.expiry = .at(date) }, as: .app) },
        ]
    }

    @Test(arguments: impossible)
    func isRefusedAtEveryEntry(seconds: Double) throws {
        _ = try vault.add(.password("s", "there", "v"), as: .app)
        let date = Date(timeIntervalSince1970: seconds)
        for operation in operations(date) { #expect(throws: Self.refusal) { try operation() } }
        // The server refuses them before the vault sees them.
        var new = NewItem.password("s", "new", "v")
        new.expiry = .at(date)
        var changes = ItemChanges()
        changes.expiry = .at(date)
        let query = ItemQuery.password("s", "there")
        for check: () throws -> Void in [
            { try AddItem(new).check() }, { try PutItem(new).check() },
            { try ExchangeItem(new, expecting: nil).check() }, { try UpdateItems(query, with: changes).check() },
            { try stored { $0.creationDate = date }.check() }, { try stored { $0.modificationDate = date }.check() },
            { try stored { $0.expiry = .at(date) }.check() },
        ] { #expect(throws: Self.refusal) { try check() } }
        #expect(try vault.items(.password("s", limit: nil)).map(\.attributes[.account]) == [.string("there")])
    }

    @Test(arguments: possible)
    func othersAreTaken(seconds: Double) throws {
        _ = try vault.add(.password("s", "there", "v"), as: .app)
        let date = Date(timeIntervalSince1970: seconds)
        for operation in operations(date) {
            do { try operation() } catch VaultError.duplicateItem {}
        }
        // An item with the last of all dates can be changed.
        #expect(try vault.update(.password("s", "there"), with: ItemChanges(value: Data()), as: .app) == 1)
    }

    @Test(arguments: impossible)
    func storedDatesAreReadAsTheNearest(seconds: Double) throws {
        let date = Date(timeIntervalSince1970: seconds)
        let metadata = ItemMetadata(
            accessControlFlags: nil, creationDate: date, modificationDate: date, accessGroup: "g",
            attributes: [.creationDate: .date(date)], expiry: .at(date))
        let read = try ItemMetadata(decoding: metadata.encoded())
        #expect(read.creationDate.isStorable && read.modificationDate.isStorable && read.expiry.isStorable)
        #expect(read.attributes.values.allSatisfy { $0.isStorable })
        #expect(read.creationDate == date.nearestStorable)
        if !seconds.isNaN {
            #expect((read.creationDate < Date()) == (seconds < 0))
            // A password that ended in year 0 has ended, and one that ends after year 9999 has not.
            #expect((read.expiry.date.map { $0 < Date() } ?? false) == (seconds < 0))
        }
    }

    @Test func foundationsOwnLimitsAreDatesOfItems() {
        #expect(Date.distantPast.isStorable && Date.distantFuture.isStorable)
    }
}
