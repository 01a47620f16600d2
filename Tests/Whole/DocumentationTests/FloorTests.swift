import Foundation
import TestSupport
import Testing

/// Arrows between modules point down, what is declared is used, each module has a sign and tests, and the page about
/// them is true.
@Suite struct FloorTests {
    private static let read = Result {
        try House(Repository.root)
    }
    private let house: House

    init() throws { house = try Self.read.get() }

    @Test func everyModuleIsWhereItBelongs() {
        #expect(house.modules.count { $0.isInHouse } > 50)
        for problem in house.problems { Issue.record("\(problem)") }
    }

    private func problems(_ name: String, _ change: (inout House.Module) -> Void) throws -> [String] {
        var changed = house
        change(&changed.modules[try #require(house.modules.firstIndex { $0.name == name })])
        return changed.problems
    }

    /// The page about the house says what the sources say. With KEYCHAIN_WRITE_HOUSE=1 (`make house`) it is made.
    @Test func thePageIsTrue() throws {
        let page = try Repository.text("Documentation/House.md")
        if ProcessInfo.processInfo.environment["KEYCHAIN_WRITE_HOUSE"] == "1" {
            try house.page(after: page).write(
                to: Repository.file("Documentation/House.md"), atomically: true, encoding: .utf8)
            return
        }
        for problem in house.problems(ofPage: page) { Issue.record("\(problem)") }
    }

    @Test func mistakesOfThePageAreFound() throws {
        let page = house.page(after: "| Who wraps? | `Keybag`, `Keybag` |\n")
        #expect(house.problems(ofPage: page) == [])
        #expect(
            house.problems(ofPage: page.replacing("`Keybag`, `Keybag`", with: "`Keybag`, `Purse`"))
                == ["House.md says that Keybag has Purse, and it has not"])
        #expect(house.problems(ofPage: page.replacing("AuditTests |", with: "NoTests |")).count == 2)
        var changed = house
        changed.modules[0].lines *= 2
        #expect(changed.problems(ofPage: page).count == 1)
    }

    @Test func mistakesAreFound() throws {
        #expect(
            try problems("Keybag") { $0.imports.insert("Vault") } == ["Keybag imports Vault, and does not declare it"])
        #expect(
            try problems("Keybag") {
                $0.imports.insert("Vault")
                $0.uses.append("Vault")
            } == ["Keybag uses Vault, which does not stand below it"])
        #expect(
            try problems("Sealing") { $0.uses.append("Access") }
                == ["Sealing is declared to use Access, and imports it nowhere"])
        #expect(
            try problems("Sealing") { $0.imports.insert("GRDB") } == ["Sealing imports GRDB, and does not declare it"])
        #expect(
            try problems("Sealing") { $0.imports.insert("Glibc") } == ["Sealing imports Glibc, and not CLibrary"])
        #expect(
            try problems("Items") { $0.sign = nil } == [
                "Items: it has no sign: Sources/5-Engine/Items/Items.docc/Items.md"
            ])
        #expect(
            try problems("Items") { $0.sign = $0.sign?.replacing("ItemStore", with: "Shop") }
                == ["Items: it has no Shop, with which its sign tells to start"])
        #expect(try problems("CTSS2") { $0.sign = nil }.count == 1)
        #expect(
            try problems("Items") {
                $0.imports.insert("Keybag")
                $0.uses.append("Keybag")
            }
                == ["Items imports Keybag, which its sign forbids"])
        #expect(try problems("Items") { $0.longFiles = ["X.swift"] } == ["X.swift has more than 500 lines"])
        #expect(
            try problems("Attestation") { $0.sign = $0.sign?.replacing("Tested by", with: "Read by") }
                == ["Attestation has no tests, and its sign does not say who tests it"])
        // A module with tests of its own name may have others besides.
        for (name, tests) in [("Attestation", "EnclaveTests"), ("SecretService", "KeychainCommandTests")] {
            #expect(
                try problems(name) { $0.sign = $0.sign?.replacing(tests, with: "NoTests") }
                    == ["\(name) is said to be tested by NoTests: there is none"])
        }
        #expect(
            try problems("PasswordCommands") { $0.sign = $0.sign?.replacing("`purge`", with: "`burn`") } == [
                "the sign of PasswordCommands does not list purge",
                "the sign of PasswordCommands lists burn: there is none",
            ])
        #expect(
            try problems("KeychainCommand") { $0.text = $0.text.replacing("\"lock\",", with: "\"shut\",") } == [
                "keychain's help does not have lock", "keychain's help has shut: there is none",
            ])
        #expect(
            try problems("Connections") { $0.sign = $0.sign?.replacing("SSHAgentTests", with: "SystemHTTPTests") }
                == ["Connections is said to be tested by SystemHTTPTests, which does not use it"])
        #expect(
            try problems("VaultInterface") { $0.text = $0.text.replacing(" EraseVault.self,", with: "") }
                == ["55 operations have a number, and 54 are listed"])
        #expect(
            try problems("VaultInterface") { $0.text = $0.text.replacing("UInt8 = 44", with: "UInt8 = 43") }
                == ["two operations have the same number"])
        var changed = house
        changed.strangers = ["Sources/5-Engine/New"]
        #expect(changed.problems == ["Sources/5-Engine/New is not in Package.swift"])
    }
}
