import Foundation
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// Vaults that `Tests/Support/Vectors/vault-writer.py` makes and changes, a second implementation of the writing.
@Suite struct VaultWriterTests {
    private static let peer = Result {
        try PythonPeer(
            Repository.file("Tests/Support/Vectors/vault-writer.py").path)
    }

    private let folder: TemporaryFolder
    private var path: String { folder.path(of: "vault") }

    init() throws { folder = try TemporaryFolder() }

    private func write(_ items: String, passcode: String? = nil) throws {
        try Data(items.utf8).write(to: URL(fileURLWithPath: folder.path(of: "items")))
        var options: [String] = []
        if let passcode {
            try Data(passcode.utf8).write(to: URL(fileURLWithPath: folder.path(of: "passcode")))
            options = ["--passcode", folder.path(of: "passcode")]
        }
        #expect(try Self.peer.get().ask(options + [folder.path(of: "items"), path]) == "")
    }

    private static let items = """
        [{"group": "TEAM.app", "protection": "ak", "value": "6f6e65", "created": 1.5, "modified": 2.5,
          "attributes": {"svce": {"string": "s"}, "acct": {"string": "ä"}, "labl": {"string": "a label"}},
          "custom": {"stage": "production", "Stufe": "größer"}, "expires": 4e9, "kept": 3},
         {"group": "TEAM.app", "protection": "dku", "value": "", "accessControlFlags": 0,
          "attributes": {"svce": {"data": "00ff"}, "acct": {"string": "b"}, "crtr": {"number": -3}}},
         {"class": "inet", "group": "TEAM.app", "protection": "cku", "value": "03", "synchronizable": false,
          "attributes": {"srvr": {"string": "h"}, "ptcl": {"string": "htps"}, "port": {"number": 443}}},
         {"class": "keys", "group": "TEAM.app", "synchronizable": true, "protection": "ck", "value": "04",
          "attributes": {"klbl": {"data": "0102"}, "sdat": {"date": 7.25}, "kcls": {"number": 1}}}]
        """

    private func check(_ vault: EmbeddedVault, valid: Int = 4) throws {
        let report = try vault.verify(as: .owner)
        #expect(report.problems.isEmpty && report.validItems == valid)
        var query = ItemQuery.password("s", "ä")
        query.customAttributes = ["stage": "production", "Stufe": "größer"]
        let found = try #require(try vault.copy(query, includingValues: true, as: .app).first)
        #expect(found.value == Data("one".utf8) && found.attribute(.label) == .string("a label"))
        #expect(found.creationDate.timeIntervalSinceReferenceDate == 1.5)
        #expect(found.expiry == .at(Date(timeIntervalSinceReferenceDate: 4e9)))
        #expect(found.kept == .atMost(3))
        query = ItemQuery(itemClass: .internetPassword, attributes: [.server: .string("h"), "port": .number(443)])
        #expect(try vault.copy(query, includingValues: true, as: .app).map(\.value) == [Data([3])])
        query = ItemQuery(
            itemClass: .key, attributes: [.applicationLabel: .data(Data([1, 2]))], synchronizable: .synchronizableOnly)
        #expect(try vault.copy(query, includingValues: true, as: .app).map(\.value) == [Data([4])])
        query = ItemQuery(itemClass: .genericPassword, attributes: [.service: .data(Data([0, 255]))])
        #expect(try vault.copy(query, includingValues: true, as: .app).first?.accessControl.flags == [])
    }

    @Test func aVaultThatAnotherProgramMadeIsWhole() throws {
        try write(Self.items)
        let vault = try EmbeddedVault.open(at: path)
        try check(vault)
        _ = try vault.put(.password("new", "item", "value"), as: .app)
        try check(vault, valid: 5)
        #expect(throws: VaultError.classKeyAbsent(.whenPasscodeSetThisDeviceOnly)) {
            var item = NewItem.password("of", "a passcode", "value")
            item.accessControl.protection = .whenPasscodeSetThisDeviceOnly
            _ = try vault.add(item, as: .app)
        }
    }

    @Test func aVaultWithAPasscodeOpensWithIt() throws {
        try write(Self.items.replacing("\"cku\"", with: "\"akpu\""), passcode: "right")
        let vault = try EmbeddedVault.open(at: path)
        #expect(throws: VaultError.self) { try vault.copy(.password("s", "ä"), includingValues: true, as: .app) }
        #expect(throws: VaultError.self) { try vault.unlock(with: .test("wrong"), as: .owner) }
        try vault.unlock(with: .test("right"), as: .owner)
        try check(vault)
        try vault.changePasscode(from: .test("right"), to: .test("other"), options: .cheapest, as: .owner)
        try check(vault)
    }

    @Test func anotherProgramChangesAVaultOfThisOne() throws {
        func make() throws {
            let vault = try EmbeddedVault.open(at: path)
            _ = try vault.add(.password("s", "ä", "to be replaced"), as: .app)
            _ = try vault.add(.password("kept", "item", "value"), as: .app)
        }
        try make()
        try write(Self.items)
        // Again: each item is put in the place of itself.
        try write(Self.items)
        func examine() throws {
            let vault = try EmbeddedVault.open(at: path)
            try check(vault, valid: 5)
            #expect(try vault.items(.password("kept", "item")).map(\.value) == [Data("value".utf8)])
        }
        // The reader checks every digest and every filing.
        _ = try FormatVectors.read(path, [])
        try examine()
    }
}
