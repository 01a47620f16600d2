import Access
import Audit
import Foundation
import TestSupport
import Testing
import Vault
import VaultInterface

/// A log whose keys go forward from an anchor.
@Suite struct AnchorTests {
    @Test func aLogIsAnchoredAndGoesOn() throws {
        let folder = try AuditFolder()
        for number in 0..<3 { folder.log().record(.read(number)) }
        folder.log().record(AuditEvent(.unlocked, client: "keychain"))
        #expect(folder.anchor(isExpected: false) == .done)
        #expect(try folder.verifyUnlocked() == AuditReport(records: 6))
        let log = folder.log()
        for number in 3..<6 {
            log.record(.read(number))
            folder.log().record(AuditEvent(.written, client: "c", items: number))
            #expect(try folder.verifyUnlocked() == AuditReport(records: 6 + 2 * (number - 2)))
        }
        #expect(folder.anchor() == .done)
        #expect(folder.anchor() == .done)
        log.record(.read(6))
        #expect(try folder.verifyUnlocked() == AuditReport(records: 13))
        #expect(try folder.records().compactMap(\.items).count == 10)
    }

    /// Links and heads are checked, and the records under keys that are locked away are counted.
    @Test func aLockedVaultChecksTheLinks() throws {
        let folder = try AuditFolder()
        for number in 0..<3 { folder.log().record(.read(number)) }
        folder.anchor(isExpected: false)
        for number in 3..<6 { folder.log().record(.read(number)) }
        #expect(try folder.verify() == AuditReport(records: 7, recordsOfEarlierKeys: 3))
        let text = String(decoding: try folder.contents(), as: UTF8.self)
        try folder.replace(with: Data(text.replacingOccurrences(of: #""items":1"#, with: #""items":7"#).utf8))
        #expect(try folder.verify()?.problems.count == 1)
    }

    /// Killed between the steps of anchoring: before the anchor is replaced, and after it.
    @Test func anchoringThatWasInterrupted() throws {
        let folder = try AuditFolder()
        let log = folder.log()
        for number in 0..<3 { log.record(.read(number)) }
        #expect(folder.anchor(isExpected: false) == .done)
        log.record(.read(3))
        log.record(AuditEvent(.written, client: "c", items: 1))
        let before = try FolderContents(of: folder.path)
        #expect(folder.anchor() == .done)
        let after = try FolderContents(of: folder.path)
        for anchored in [before, after] {
            for halves in [[true, true], [true, false], [false, true]] {
                try before.restore(to: folder.path)
                try folder.replace("audit.anchor", with: try #require(anchored["audit.anchor"]))
                for (name, isHalf) in zip(["audit.head", "audit-looks.head"], halves) {
                    let (old, new) = (try #require(before[name]), try #require(after[name]))
                    // The slot for the new anchor is there. The other one is of the present state.
                    let isReplaced = anchored["audit.anchor"] == after["audit.anchor"]
                    let whole = isReplaced ? new : old
                    try folder.replace(name, with: isHalf ? old.prefix(512) + new.suffix(512) : whole)
                }
                #expect(try folder.verifyUnlocked()?.problems == [])
                folder.log().record(.read(4))
                #expect(try folder.verifyUnlocked()?.problems == [])
                #expect(folder.anchor() == .done)
                folder.log().record(.read(5))
                #expect(try folder.verifyUnlocked() == AuditReport(records: 9))
            }
        }
    }

    /// The keys of records that were removed to make room are passed over.
    @Test func aFullLogIsVerifiedFromItsAnchorOn() throws {
        var limits = AuditLimits()
        limits.file = 3_000
        limits.kept = 2
        let folder = try AuditFolder(limits: limits)
        folder.log().record(.read(0))
        folder.anchor(isExpected: false)
        for number in 1..<40 { folder.log().record(.read(number)) }
        #expect(try folder.records().first?.sequence ?? 0 > 10)
        #expect(try folder.verifyUnlocked()?.problems == [])
        #expect(folder.anchor() == .done)
        for number in 40..<44 { folder.log().record(.read(number)) }
        #expect(try folder.verifyUnlocked()?.problems == [])
    }
}
