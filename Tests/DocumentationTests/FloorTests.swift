import Foundation
import Testing

/// Arrows between modules point down, what is declared is used, and each module has a sign.
@Suite struct FloorTests {
    private static let read = Result {
        try House(URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL)
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
        var changed = house
        changed.strangers = ["Sources/5-Engine/New"]
        #expect(changed.problems == ["Sources/5-Engine/New is not in Package.swift"])
    }
}
