import Foundation
import KeychainServices
import TestSupport
import Testing

/// Dictionaries made at random: whatever a caller gives, a call ends with a status of the interface.
@Suite struct RandomDictionaryTests {
    private static let known: Set<OSStatus> = [
        errSecSuccess, errSecParam, errSecUnimplemented, errSecNoSuchAttr, errSecNoSuchClass, errSecItemNotFound,
        errSecDuplicateItem, errSecMissingEntitlement, errSecDataTooLarge, errSecNotAvailable,
    ]

    private let keys: [NSObject] =
        [
            "class", "acct", "svce", "srvr", "agrp", "sync", "pdmn", "accc", "cdat", "tomb", "labl", "crtr", "issr",
            "sha1",
            "musr", "ggrp", "klbl", "r_Data", "r_Attributes", "r_Ref", "r_PersistentRef", "m_Limit", "m_Issuers",
            "m_HostOrSubdomainOfHost", "u_AuthUI", "u_OpPrompt", "v_Data", "v_Ref", "v_PersistentRef", "nleg", "zzzz",
            "",
            "\u{1F511}", "f",
        ].map { $0 as NSString } + [NSNumber(value: 1), NSData()]

    private let values: [Any] =
        [
            "genp", "inet", "cert", "keys", "idnt", "a", "", "TEAM.app", "OTHER", "ak", "m_LimitAll", "syna",
            "u_AuthUIF",
            "1", true, false, 0, 1, -1, Int64.max, 1.5, Double.nan, Data(), Data([0x30]),
            Data("genp".utf8) + Data(count: 16),
            Data(count: 300), Date(timeIntervalSinceReferenceDate: .infinity), NSNull(), [Data([1])], ["a": 1], UUID(),
            NSObject(),
        ]

    @Test func everyCallEndsWithAStatus() throws {
        var random = SplitMix(state: 7)
        try onFreshVault {
            var observed: Set<OSStatus> = []
            for _ in 0..<TestScale.count(1_500, soak: 100_000) {
                let dictionary = make(with: &random)
                var result: AnyObject?
                switch Int.random(in: 0..<4, using: &random) {
                case 0: observed.insert(SecItemAdd(dictionary, &result))
                case 1: observed.insert(SecItemCopyMatching(dictionary, &result))
                case 2: observed.insert(SecItemUpdate(dictionary, make(with: &random)))
                default: observed.insert(SecItemDelete(dictionary))
                }
            }
            #expect(observed.subtracting(Self.known) == [])
            #expect(observed.isSuperset(of: [errSecSuccess, errSecParam, errSecNoSuchAttr, errSecItemNotFound]))
        }
    }

    private func make(with random: inout SplitMix) -> NSDictionary {
        let dictionary = NSMutableDictionary()
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let key = keys[Int.random(in: 0..<keys.count, using: &random)]
            dictionary.setObject(values[Int.random(in: 0..<values.count, using: &random)], forKey: key)
        }
        if Int.random(in: 0..<10, using: &random) < 8 {
            dictionary["class"] = values[Int.random(in: 0..<5, using: &random)]
        }
        return dictionary
    }

    /// A generator with a fixed start, so that a failure repeats.
    private struct SplitMix: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
            return mixed ^ (mixed >> 31)
        }
    }
}
