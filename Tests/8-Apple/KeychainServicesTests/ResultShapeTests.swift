import Foundation
import KeychainModel
import Testing

@testable import KeychainServices

@Suite struct ResultShapeTests {
    private let item = StoredItem(
        itemClass: .genericPassword, identifier: UUID(),
        attributes: [.account: .string("a"), .label: .data(Data([1])), "invi": .number(1), .tokenID: .string("")],
        accessGroup: "TEAM.app", accessControl: AccessControl(protection: .whenUnlocked), isSynchronizable: false,
        creationDate: Date(timeIntervalSinceReferenceDate: 1),
        modificationDate: Date(timeIntervalSinceReferenceDate: 2),
        value: Data("v".utf8))

    private func object(_ result: ItemResult) -> AnyObject? {
        guard case .object(let object) = result else { return nil }
        return object
    }

    private func keys(_ result: ItemResult) -> Set<String> {
        Set((object(result) as? [String: Any] ?? [:]).keys)
    }

    private static let attributes: Set<String> = [
        "acct", "labl", "invi", "svce", "agrp", "pdmn", "accc", "sync", "cdat", "mdat",
    ]

    @Test func nothingAskedFor() {
        guard case .untouched = ResultShape(returns: []).ofCopy([item], asArray: false) else {
            Issue.record("the result was touched")
            return
        }
        #expect((object(ResultShape(returns: []).ofCopy([item], asArray: true)) as? NSArray)?.count == 0)
        guard case .untouched = ResultShape(returns: []).ofAdd(item) else {
            Issue.record("the result was touched")
            return
        }
    }

    @Test func bareObjects() {
        #expect(object(ResultShape(returns: .data).ofCopy([item], asArray: false)) as? Data == item.value)
        #expect(object(ResultShape(returns: .reference).ofCopy([item], asArray: false)) == nil)
        let reference = object(ResultShape(returns: .persistentReference).ofCopy([item], asArray: false)) as? Data
        #expect(reference?.count == 20 && reference?.prefix(4) == Data("genp".utf8))
        #expect(object(ResultShape(returns: .data).ofAdd(item)) as? Data == item.value)
    }

    @Test func arrays() {
        var empty = item
        empty.value = nil
        let values = object(ResultShape(returns: .data).ofCopy([item, empty], asArray: true)) as? [Data]
        #expect(values == [Data("v".utf8)])
        #expect((object(ResultShape(returns: .reference).ofCopy([item], asArray: true)) as? NSArray)?.count == 0)
        #expect(
            (object(ResultShape(returns: .attributes).ofCopy([item], asArray: true)) as? [[String: Any]])?.count == 1)
    }

    @Test(
        arguments: [
            (1, []), (2, ["v_Data", "sha1"]), (3, ["v_PersistentRef"]), (4, ["v_Data", "sha1", "v_PersistentRef"]),
            (5, ["class"]), (6, ["class", "v_Data", "sha1"]), (7, ["class", "v_PersistentRef"]),
            (8, ["class", "v_Data", "sha1", "v_PersistentRef"]),
        ] as [(Int, Set<String>)])
    func dictionariesOfASearch(_ row: Int, _ extra: Set<String>) {
        let flags: [ReturnFlags] = [
            [], .attributes, [.attributes, .data], [.attributes, .persistentReference],
            [.data, .persistentReference], [.reference, .attributes], [.reference, .data],
            [.reference, .persistentReference], [.reference, .data, .attributes, .persistentReference],
        ]
        let shape = ResultShape(returns: flags[row])
        #expect(keys(shape.ofCopy([item], asArray: false)) == Self.attributes.union(extra).union(["tomb"]))
    }

    @Test func dictionariesOfAnAddition() {
        #expect(keys(ResultShape(returns: .attributes).ofAdd(item)) == Self.attributes.union(["sha1"]))
        #expect(
            keys(ResultShape(returns: [.attributes, .data, .reference]).ofAdd(item))
                == Self.attributes.union(["sha1", "v_Data", "class"]))
        #expect(
            keys(ResultShape(returns: [.data, .persistentReference]).ofAdd(item)) == ["v_Data", "v_PersistentRef"])
    }

    @Test func itemsWithoutAValue() {
        var item = item
        item.value = nil
        #expect(object(ResultShape(returns: .data).ofCopy([item], asArray: false)) == nil)
        #expect(!keys(ResultShape(returns: [.data, .attributes]).ofCopy([item], asArray: false)).contains("v_Data"))
        #expect(object(ResultShape(returns: .data).ofAdd(item)) as? Data == Data())
    }

    @Test func valuesKeepTheirTypes() throws {
        let found = try #require(
            object(ResultShape(returns: .attributes).ofCopy([item], asArray: false)) as? [String: Any])
        #expect(found["acct"] as? String == "a")
        #expect(found["labl"] as? Data == Data([1]))
        #expect(found["invi"] as? Bool == true)
        #expect(found["svce"] as? String == "")
        #expect(found["sync"] as? Int == 0)
        #expect(found["cdat"] as? Date == item.creationDate)
        #expect(found["accc"] as? SecAccessControl == SecAccessControl(item.accessControl))
    }

    @Test func theHashFollowsTheContents() {
        var others: [StoredItem] = Array(repeating: item, count: 4)
        others[0].value = nil
        others[1].attributes[.account] = .string("b")
        others[2].accessGroup = "TEAM.shared"
        others[3].isSynchronizable = true
        #expect(item.contentHash == item.contentHash && item.contentHash.count == 20)
        #expect(Set(others.map(\.contentHash) + [item.contentHash]).count == 5)
        var moved = item
        moved.identifier = UUID()
        moved.modificationDate = Date()
        #expect(moved.contentHash == item.contentHash)
    }
}
