import Foundation
import KeychainModel
import Testing

@testable import KeychainServices

/// The grammar of SecItem dictionaries, without a vault.
@Suite struct GrammarTests {
    /// The status with which a search refuses these entries of a generic password's dictionary; 0 if it
    /// takes them.
    private func refusal(_ entries: [String: Any], ofClass itemClass: Any = "genp") -> OSStatus {
        var entries = entries
        entries["class"] = entries["class"] ?? itemClass
        return refusal(of: entries as NSDictionary)
    }

    private func refusal(of dictionary: NSDictionary) -> OSStatus {
        do {
            let parsed = try ItemDictionary(dictionary)
            _ = try parsed.searchQuery()
            _ = try parsed.match.filters(for: parsed.itemClass)
            return errSecSuccess
        } catch {
            return error.status
        }
    }

    @Test func classes() {
        #expect(refusal(of: [:]) == errSecParam)
        #expect(refusal(of: ["class": 5]) == errSecParam)
        #expect(refusal(of: ["class": Data("genp".utf8)]) == errSecParam)
        #expect(refusal(of: ["class": "nope"]) == errSecNoSuchClass)
        #expect(refusal(of: ["class": "apls"]) == errSecNoSuchClass)
        #expect(refusal(of: ["clazz": "genp", "class": "genp"]) == errSecParam)
        for itemClass in ItemClass.allCases { #expect(refusal([:], ofClass: itemClass.rawValue) == errSecSuccess) }
    }

    @Test func aWrongClassIsReportedBeforeEverythingElse() {
        let broken: [String: Any] = ["zzzz": 1, "r_Data": 1, "bogus": 2, "v_Data": "text"]
        #expect(refusal(broken, ofClass: "nope") == errSecNoSuchClass)
    }

    @Test func keys() {
        #expect(refusal(["zzzz": "v"]) == errSecNoSuchAttr)
        #expect(refusal(["äöüß": "v"]) == errSecNoSuchAttr)
        #expect(refusal(["srvr": "v"]) == errSecNoSuchAttr)
        #expect(refusal(["persistref": Data()]) == errSecParam)
        #expect(refusal(["": 1]) == errSecParam)
        #expect(refusal(["f_anything": 1]) == errSecSuccess)
        #expect(refusal(["nleg": true]) == errSecSuccess)
        #expect(refusal(of: ["class": "genp", Data([1]) as NSData: true]) == errSecParam)
        for name in ["afps", "addr", "volm", "crlt", "crle"] { #expect(refusal([name: "v"]) == errSecNoSuchAttr) }
    }

    @Test func atMost128Entries() {
        var entries: [String: Any] = [:]
        for number in 0..<127 { entries["f_entry\(number)"] = number }
        #expect(refusal(entries) == errSecSuccess)
        entries["f_entry127"] = 127
        #expect(refusal(entries) == errSecParam)
    }

    @Test func returnFlagsAreBooleans() {
        for key in ["r_Data", "r_Attributes", "r_Ref", "r_PersistentRef"] {
            #expect(refusal([key: true]) == errSecSuccess)
            #expect(refusal([key: false]) == errSecSuccess)
            #expect(refusal([key: NSNumber(value: true)]) == errSecSuccess)
            let others: [Any] = [
                1, 0, NSNumber(value: 1), NSNumber(value: Int8(1)), 1.0, "yes", "1", Data([1]), NSNull(), Date(),
            ]
            for other in others { #expect(refusal([key: other]) == errSecParam, "\(other)") }
        }
        #expect(refusal(["r_Bogus": true]) == errSecParam)
    }

    @Test func falseIsTheSameAsNoFlag() throws {
        let dictionary = try ItemDictionary(["class": "genp", "r_Data": true, "r_Attributes": false])
        #expect(dictionary.returns == .data)
    }

    @Test func limits() throws {
        func limit(_ value: Any) -> (Int?, Bool)? {
            guard let dictionary = try? ItemDictionary(["class": "genp", "m_Limit": value] as NSDictionary),
                let query = try? dictionary.searchQuery()
            else {
                return nil
            }
            return (query.limit, dictionary.match.wantsArray)
        }
        for (value, count, isArray) in [
            ("m_LimitOne" as Any, 1 as Int?, false), ("m_LimitAll", nil, true), (1, 1, false), (2, 2, true),
            (0, 0, true),
            (-1, nil, true),
        ] {
            let found = try #require(limit(value))
            #expect(found.0 == count && found.1 == isArray, "\(value)")
        }
        for value in ["three" as Any, "1", Data("1".utf8), true, NSNull(), Date()] { #expect(limit(value) == nil) }
        let unlimited = try ItemDictionary(["class": "genp"])
        #expect(try unlimited.searchQuery().limit == 1 && !unlimited.match.wantsArray)
    }

    @Test func matchKeys() {
        #expect(refusal(["m_SubjectContains": "x", "m_CaseInsensitive": true, "m_New": 1]) == errSecSuccess)
        #expect(refusal(["m_TrustedOnly": "yes"], ofClass: "cert") == errSecParam)
        #expect(refusal(["m_TrustedOnly": 1], ofClass: "cert") == errSecParam)
        #expect(refusal(["m_TrustedOnly": false], ofClass: "cert") == errSecSuccess)
        #expect(refusal(["m_TrustedOnly": true], ofClass: "cert") == errSecSuccess)
        #expect(refusal(["m_TrustedOnly": true]) == errSecSuccess)
        #expect(refusal(["m_EmailAddressIfPresent": 5], ofClass: "cert") == errSecParam)
        #expect(refusal(["m_EmailAddressIfPresent": "a@b"]) == errSecSuccess)
        #expect(refusal(["m_HostOrSubdomainOfHost": 5], ofClass: "inet") == errSecParam)
        #expect(refusal(["m_HostOrSubdomainOfHost": "a"]) == errSecUnimplemented)
        #expect(refusal(["m_HostOrSubdomainOfHost": "a"], ofClass: "inet") == errSecSuccess)
        #expect(refusal(["m_ValidOnDate": 5], ofClass: "cert") == errSecParam)
        #expect(refusal(["m_ValidOnDate": NSNull()], ofClass: "cert") == errSecSuccess)
        #expect(refusal(["m_Policy": NSObject()]) == errSecUnimplemented)
        #expect(refusal(["m_Issuers": "x"], ofClass: "cert") == errSecParam)
        #expect(refusal(["m_Issuers": [Data([1])]]) == errSecSuccess)
        let name = Data([0x30, 0x0c, 0x31, 0x0a, 0x30, 0x08, 0x06, 0x03, 0x55, 0x04, 0x03, 0x13, 0x01, 0x78])
        #expect(refusal(["m_Issuers": [name]]) == errSecUnimplemented)
        #expect(refusal(["m_Issuers": [name]], ofClass: "idnt") == errSecSuccess)
    }

    @Test func issuersAreNormalized() throws {
        let name = Data([0x30, 0x0c, 0x31, 0x0a, 0x30, 0x08, 0x06, 0x03, 0x55, 0x04, 0x03, 0x13, 0x01, 0x78])
        let normalized = Data([0x31, 0x0a, 0x30, 0x08, 0x06, 0x03, 0x55, 0x04, 0x03, 0x13, 0x01, 0x58])
        let dictionary = try ItemDictionary(
            ["class": "cert", "m_Issuers": [Data([1]), name], "issr": name] as NSDictionary)
        #expect(try dictionary.match.filters(for: .certificate) == [.issuers([normalized])])
        #expect(try dictionary.searchQuery().attributes[.issuer] == .data(normalized))
    }

    @Test func useKeys() throws {
        #expect(refusal(["u_AuthUI": 5]) == errSecParam)
        #expect(refusal(["u_AuthUI": "other"]) == errSecParam)
        #expect(refusal(["u_ItemList": []]) == errSecParam)
        #expect(refusal(["u_Keychain": "x"]) == errSecParam)
        #expect(refusal(["u_Unknown": 1]) == errSecParam)
        #expect(refusal(["u_AuthCtx": "x"]) == errSecParam)
        #expect(refusal(["u_CredRef": Data()]) == errSecSuccess)
        #expect(refusal(["u_CredRef": Data(), "u_AuthCtx": Context()]) == errSecParam)
        #expect(refusal(["u_UserIndependentKeychain": true]) == errSecSuccess)

        func interaction(_ entries: [String: Any]) throws -> AuthenticationOptions {
            try ItemDictionary(entries.merging(["class": "genp"]) { $1 } as NSDictionary).use.authentication
        }
        #expect(try interaction([:]).interaction == .allow)
        #expect(try interaction(["u_AuthUI": "u_AuthUIF"]).interaction == .fail)
        #expect(try interaction(["u_AuthUI": "u_AuthUIS"]).interaction == .skip)
        #expect(try interaction(["u_NoAuthUI": true]).interaction == .fail)
        #expect(try interaction(["u_NoAuthUI": false]).interaction == .allow)
        #expect(try interaction(["u_AuthCtx": Context()]).interaction == .fail)
        #expect(try interaction(["u_AuthCtx": Context()]).prompt == "reason")
        #expect(try interaction(["u_AuthCtx": Context(), "u_OpPrompt": "mine"]).prompt == "mine")
    }

    private final class Context: NSObject, _SecAuthenticationContext {
        let localizedCancelTitle: String? = nil
        let localizedFallbackTitle: String? = nil
        let interactionNotAllowed = true
        let localizedReason = "reason"
        let _keychainState = _SecAuthenticationState()
    }

    @Test func values() {
        for value in ["text" as Any, 5, true, NSNull(), Date(), [1]] {
            #expect(refusal(["v_Data": value]) == errSecParam)
            #expect(refusal(["v_PersistentRef": value]) == errSecParam)
            #expect(refusal(["v_Ref": value]) == errSecParam)
        }
        #expect(refusal(["v_Data": Data()]) == errSecSuccess)
        #expect(refusal(["v_Data": NSMutableData()]) == errSecSuccess)
        #expect(refusal(["v_Bogus": true]) == errSecParam)
    }

    @Test func persistentReferences() throws {
        let reference = Data("genp".utf8) + Data(1...16)
        let found = try ItemDictionary(["v_PersistentRef": reference] as NSDictionary).searchQuery()
        #expect(found.itemClass == .genericPassword)
        #expect(found.synchronizable == .any)
        let identifier = try #require(found.identifier)
        #expect(PersistentReference(itemClass: .genericPassword, identifier: identifier).data == reference)

        #expect(refusal(of: ["v_PersistentRef": Data("genp".utf8) + Data(count: 8)] as NSDictionary) == errSecSuccess)
        for broken in [
            Data(), Data("short".utf8), Data("nope".utf8) + Data(count: 16), reference + Data([0]),
            reference.dropLast(),
        ] { #expect(refusal(of: ["v_PersistentRef": broken] as NSDictionary) == errSecParam) }
        #expect(refusal(["v_PersistentRef": reference]) == errSecSuccess)
        #expect(refusal(["v_PersistentRef": reference], ofClass: "inet") == errSecNoSuchClass)
        #expect(refusal(["v_PersistentRef": reference, "sync": "syna"]) == errSecSuccess)
        for (name, value) in ["sync": true, "labl": "x", "agrp": "TEAM.app", "pdmn": "ak"] as [String: Any] {
            #expect(refusal(["v_PersistentRef": reference, name: value]) == errSecParam)
        }
        #expect(throws: Never.self) {
            try ItemDictionary(["v_PersistentRef": reference, "labl": "x"] as NSDictionary).deletionQuery()
        }
    }

    /// What each function does with a construct: add, copy, update's query, update's changes, delete.
    @Test(
        arguments: [
            ("zzzz", Value.string("v"), [-25303, -25303, -25303, -25303, -25303]),
            ("r_Data", .boolean(true), [0, 0, -50, -25303, 0]),
            ("r_Data", .boolean(false), [0, 0, 0, -25303, 0]),
            ("m_Limit", .string("m_LimitOne"), [-50, 0, -50, -25303, -50]),
            ("m_Limit", .string("m_LimitAll"), [-50, 0, -50, -25303, 0]),
            ("m_CaseInsensitive", .boolean(true), [-50, 0, -50, -25303, -50]),
            ("u_AuthUI", .string("u_AuthUIS"), [-50, 0, -50, -25303, -50]),
            ("u_AuthUI", .string("u_AuthUIF"), [0, 0, 0, -25303, 0]),
            ("v_Data", .data(Data([1])), [0, 0, 0, 0, 0]),
            ("v_Data", .string("text"), [-50, -50, -50, -50, -50]),
            ("class", .string("genp"), [0, 0, 0, -25303, 0]),
            ("nleg", .boolean(true), [0, 0, 0, 0, 0]),
            ("v_PersistentRef", .data(Data("genp".utf8) + Data(count: 12)), [-50, -50, -50, -25303, -50]),
            ("v_PersistentRef", .data(Data("genp".utf8) + Data(count: 16)), [0, 0, 0, -25303, 0]),
            ("v_PersistentRef", .data(Data("genp".utf8) + Data(count: 8)), [-50, 0, 0, -25303, 0]),
            ("pdmn", .string("nope"), [-50, -50, -50, -50, -50]),
            ("ggrp", .string("g"), [0, 0, 0, -50, 0]),
        ])
    func constructs(_ key: String, _ value: Value, _ expected: [Int32]) {
        let dictionary = ["class": "genp", key: value.object] as NSDictionary
        func status(_ parse: () throws -> Void) -> Int32 {
            do {
                try parse()
                return 0
            } catch let failure as SecItemFailure {
                return failure.status
            } catch {
                return 1
            }
        }
        let observed = [
            status { _ = try ItemDictionary(dictionary).newItems() },
            status { _ = try ItemDictionary(dictionary).searchQuery() },
            status { _ = try ItemDictionary(dictionary).updateItems(with: [:]) },
            status { _ = try ItemDictionary(["class": "genp"]).updateItems(with: [key: value.object]) },
            status { _ = try ItemDictionary(dictionary).deletionQuery() },
        ]
        #expect(observed == expected)
    }

    enum Value: Sendable {
        case string(String)
        case data(Data)
        case boolean(Bool)
        var object: Any {
            switch self {
            case .string(let string): string
            case .data(let data): data
            case .boolean(let boolean): boolean
            }
        }
    }
}
