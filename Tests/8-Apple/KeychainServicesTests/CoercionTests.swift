import Foundation
import KeychainModel
import Testing

@testable import KeychainServices

@Suite struct CoercionTests {
    private func coerced(_ value: Any, _ kind: AttributeKind) -> AttributeValue? {
        // Through a dictionary, as callers' values come.
        let dictionary = ["k": value] as NSDictionary
        return dictionary["k"].flatMap { try? AttributeCoercion.value($0, of: "labl", as: kind) }
    }

    @Test func blobs() {
        #expect(coerced("a", .blob) == .string("a"))
        #expect(coerced("a" as NSString, .blob) == .string("a"))
        #expect(coerced(Data([1]), .blob) == .data(Data([1])))
        #expect(coerced(17, .blob) == .number(17))
        #expect(coerced(1.5, .blob) == .real(1.5))
        for other in [true as Any, Date(), [1], ["a": 1], NSNull(), UUID()] { #expect(coerced(other, .blob) == nil) }
    }

    @Test func data() {
        #expect(coerced("ab", .data) == .data(Data("ab".utf8)))
        #expect(coerced(Data([1]), .data) == .data(Data([1])))
        #expect(coerced(258, .data) == .data(Data([2, 1, 0, 0])))
        for other in [true as Any, Date(), [1], NSNull()] { #expect(coerced(other, .data) == nil) }
    }

    @Test func strings() {
        let identifier = UUID()
        #expect(coerced("a", .string) == .string("a"))
        #expect(coerced(Data("ü".utf8), .string) == .string("ü"))
        #expect(coerced(Data([0xff]), .string) == nil)
        #expect(coerced(identifier, .string) == .string(identifier.uuidString))
        for other in [true as Any, 5, Date(), [1], NSNull()] { #expect(coerced(other, .string) == nil) }
    }

    @Test func numbers() {
        #expect(coerced(true, .number) == .number(1))
        #expect(coerced(false, .number) == .number(0))
        #expect(coerced(UInt32.max, .number) == .number(0xffff_ffff))
        #expect(coerced(Int64.max, .number) == .number(.max))
        #expect(coerced(Int64.min, .number) == .number(.min))
        #expect(coerced("42", .number) == .number(42))
        #expect(coerced("-7", .number) == .number(-7))
        #expect(coerced("2147483649", .number) == .string("2147483649"))
        for text in ["042", "+1", " 1", "1 ", "", "htps", "1.0", "-0"] {
            #expect(coerced(text, .number) == .string(text))
        }
        for other in [Data([1]) as Any, Date(), [1], NSNull()] { #expect(coerced(other, .number) == nil) }
    }

    @Test func dates() {
        let date = Date(timeIntervalSinceReferenceDate: 1.25)
        #expect(coerced(date, .date) == .date(date))
        for other in [5 as Any, "today", true, Data()] { #expect(coerced(other, .date) == nil) }
    }

    @Test func accessibility() {
        for protection in ProtectionClass.allCases {
            #expect(coerced(protection.rawValue, .accessible) == .string(protection.rawValue))
        }
        for other in ["f" as Any, "nope", 3, Data("ak".utf8)] { #expect(coerced(other, .accessible) == nil) }
    }

    @Test func synchronizableScopes() {
        func scope(_ value: Any) -> SynchronizableScope? {
            (["k": value] as NSDictionary)["k"].flatMap { try? AttributeCoercion.synchronizable($0) }
        }
        for value in [true as Any, 1, "1", NSNumber(value: true)] { #expect(scope(value) == .synchronizableOnly) }
        for value in [false as Any, 0, "0"] { #expect(scope(value) == .localOnly) }
        #expect(scope(kSecAttrSynchronizableAny) == .any)
        for value in [Data([1]) as Any, "yes", NSNull(), Date()] { #expect(scope(value) == nil) }
    }

    @Test func accessibleAndAccessControlHaveToAgree() throws {
        let bare = SecAccessControl(AccessControl(protection: .afterFirstUnlock))
        let made = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAfterFirstUnlock, [], nil))
        func terms(_ entries: [(AttributeName, Any)]) -> AccessControl?? {
            (try? AttributeTerms(entries.map { (name: $0.0, value: $0.1) }, of: .genericPassword))?.control
        }
        #expect(terms([(.accessible, "ck"), (.accessControl, bare)]) == AccessControl(protection: .afterFirstUnlock))
        #expect(terms([(.accessible, "ak"), (.accessControl, bare)]) == nil)
        #expect(terms([(.accessible, "ck"), (.accessControl, made)]) == nil)
        #expect(terms([(.accessControl, made)]) == AccessControl(protection: .afterFirstUnlock, flags: []))
        #expect(terms([(.accessControl, "ck")]) == nil)
    }

    @Test func synchronizableItemsHaveNoConstraints() throws {
        let made = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil))
        let item: [String: Any] = ["class": "genp", "accc": made]
        #expect(throws: SecItemFailure.parameter) {
            try ItemDictionary(item.merging(["sync": true]) { $1 } as NSDictionary).newItems()
        }
        #expect(throws: Never.self) {
            try ItemDictionary(item.merging(["sync": false]) { $1 } as NSDictionary).newItems()
        }
        #expect(throws: SecItemFailure.parameter) {
            try ItemDictionary(["class": "genp"]).updateItems(with: ["accc": made, "sync": true])
        }
        #expect(throws: SecItemFailure.parameter) {
            try ItemDictionary(["class": "genp", "sync": true]).updateItems(with: ["accc": made])
        }
        #expect(throws: Never.self) { try ItemDictionary(["class": "genp"]).updateItems(with: ["accc": made]) }
    }
}
