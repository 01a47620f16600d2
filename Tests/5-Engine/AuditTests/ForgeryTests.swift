import Access
import Audit
import Foundation
import Glibc
import KeychainModel
import TestSupport
import Testing
import VaultInterface

/// Who has everything but the passcode cannot change what was recorded.
@Suite struct ForgeryTests {
    /// A log with records before its anchor and after it.
    private func filled(limits: AuditLimits = AuditLimits()) throws -> AuditFolder {
        let folder = try AuditFolder(limits: limits)
        let log = folder.log()
        for number in 0..<4 { log.record(.read(number)) }
        log.record(AuditEvent(.unlocked, client: "keychain"))
        #expect(log.anchor(isExpected: false) == .done)
        for number in 4..<9 { log.record(.read(number)) }
        #expect(try folder.verifyUnlocked()?.problems == [])
        return folder
    }

    /// Whether the unlocked vault finds what was done: at once, after it has gone on writing, and after the next
    /// unlocking, which also says so itself.
    private func isFound(_ folder: AuditFolder, unlocking: Bool = true) throws -> Bool {
        let atOnce = try folder.verifyUnlocked()?.problems.isEmpty == false
        folder.log().record(.read(99))
        let later = try folder.verifyUnlocked()?.problems.isEmpty == false
        let said = !unlocking || folder.anchor() == .doneAfterChange
        folder.log().record(.read(100))
        return try atOnce && later && said && folder.verifyUnlocked()?.problems.isEmpty == false
    }

    @Test(arguments: Forger.Tags.allCases, Forger.Tags.allCases)
    func aRecordIsTakenOut(_ tags: Forger.Tags, _ headTags: Forger.Tags) throws {
        for index in 5..<10 {
            let folder = try filled()
            let forger = Forger(folder)
            var lines = try forger.lines()
            #expect(lines.count == 10)
            lines.remove(at: index)
            try forger.write(lines, from: index, numbered: true, tags: tags, headTags: headTags)
            #expect(try isFound(folder), "record \(index + 1)")
        }
    }

    @Test(arguments: Forger.Tags.allCases, Forger.Tags.allCases)
    func aRecordIsChanged(_ tags: Forger.Tags, _ headTags: Forger.Tags) throws {
        for index in [2, 4, 5, 7, 9] {
            let folder = try filled()
            let forger = Forger(folder)
            var lines = try forger.lines()
            let text = String(decoding: lines[index], as: UTF8.self)
            lines[index] = Data(text.replacingOccurrences(of: #""client":"client""#, with: #""client":"nobody""#).utf8)
            try forger.write(lines, from: index, numbered: false, tags: tags, headTags: headTags)
            #expect(try isFound(folder), "record \(index + 1)")
        }
    }

    /// The head is put back to what it was when the log ended there, except for the key, which nobody has any more.
    @Test(arguments: Forger.Tags.allCases)
    func theEndIsCut(_ headTags: Forger.Tags) throws {
        for count in 1..<10 {
            let folder = try filled()
            let forger = Forger(folder)
            let lines = try Array(forger.lines().prefix(count))
            try forger.write(lines, from: count, numbered: false, tags: .kept, headTags: headTags)
            #expect(try isFound(folder), "\(count) records")
        }
    }

    @Test(arguments: Forger.Tags.allCases)
    func theWholeLogIsReplaced(_ tags: Forger.Tags) throws {
        let folder = try filled()
        let forger = Forger(folder)
        // Without what the anchor holds, and with as many records.
        let lines = try forger.lines()
        try forger.write(lines.reversed(), from: 0, numbered: true, tags: tags, headTags: tags)
        #expect(try isFound(folder))
    }

    @Test func recordsChangePlaces() throws {
        for tags in Forger.Tags.allCases {
            for index in [1, 3, 5, 6, 8] {
                let folder = try filled()
                let forger = Forger(folder)
                var lines = try forger.lines()
                lines.swapAt(index, index + 1)
                try forger.write(lines, from: index, numbered: true, tags: tags, headTags: .kept)
                #expect(try isFound(folder), "record \(index + 1)")
            }
        }
    }

    @Test func theAnchorIsRemoved() throws {
        let folder = try filled()
        unlink(folder.path + "/audit.anchor")
        #expect(try folder.verify() == AuditReport(records: 12, recordsOfEarlierKeys: 5))
        #expect(try isFound(folder))
    }

    /// Without an anchor, a log looks as if no unlocking had ever been. The vault knows better.
    @Test func theLogIsBegunAnewWithoutAnAnchor() throws {
        let folder = try filled()
        for name in ["audit.anchor", "audit.log", "audit.head", "audit-looks.log", "audit-looks.head"] {
            unlink("\(folder.path)/\(name)")
        }
        #expect(try folder.verifyUnlocked()?.problems.count == 1)
        #expect(try folder.verifyUnlocked(isExpected: false) == nil)
        let log = folder.log()
        for number in 0..<9 { log.record(.read(number)) }
        #expect(try folder.verify()?.problems == [])
        #expect(try isFound(folder))
    }

    @Test func anOlderAnchorIsPutBack() throws {
        let folder = try filled()
        let older = try folder.contents("audit.anchor")
        #expect(folder.anchor() == .done)
        folder.log().record(.read(20))
        try folder.replace("audit.anchor", with: older)
        #expect(try isFound(folder))
    }

    @Test func everyByteOfTheAnchorCounts() throws {
        let folder = try filled()
        let anchor = try folder.contents("audit.anchor")
        #expect(anchor.count == 214)
        for index in anchor.indices {
            var changed = anchor
            changed[index] ^= 0x10
            try folder.replace("audit.anchor", with: changed)
            #expect(try folder.verifyUnlocked()?.problems.isEmpty == false, "byte \(index)")
        }
        for changed in [Data(), anchor.dropLast(), anchor + [0], Data(count: anchor.count)] {
            try folder.replace("audit.anchor", with: changed)
            #expect(try isFound(folder))
            try folder.replace("audit.anchor", with: anchor)
        }
    }

    /// The log stays as it is until the next unlocking, and the head tells of another one, for which the anchor is to
    /// vouch.
    @Test func theHeadTellsOfAnotherLog() throws {
        let folder = try filled()
        let forger = Forger(folder)
        let log = try folder.contents()
        var lines = try forger.lines()
        lines.swapAt(6, 7)
        try forger.write(lines, from: 6, numbered: true, tags: .own, headTags: .kept)
        let forged = try folder.contents()
        try folder.replace(with: log)
        #expect(folder.anchor() == .doneAfterChange)
        #expect(try folder.verifyUnlocked()?.problems.isEmpty == false)
        try folder.replace(with: forged)
        #expect(try folder.verifyUnlocked()?.problems.isEmpty == false)
    }

    /// The tags of anchored records count no more, because the link in the anchor holds these records.
    @Test func everyByteOfAnAnchoredLogCounts() throws {
        let folder = try filled()
        let lines = try Forger(folder).lines()
        var end = 0
        let anchored = lines.prefix(5).map { line in
            end += line.count + 1
            // 64 digits, `"}` and the newline
            return end - 67..<end - 3
        }
        var random = SeededGenerator()
        for name in ["audit-looks.log", "audit-looks.head"] {
            let original = try folder.contents(name)
            let step = TestScale.count(6, soak: 1)
            for place in stride(from: random.int(below: step), to: original.count, by: step) {
                if name == "audit-looks.log", anchored.contains(where: { $0.contains(place) }) { continue }
                var changed = original
                changed[place] ^= 1 << UInt8(random.int(below: 8))
                try folder.replace(name, with: changed)
                #expect(try folder.verifyUnlocked()?.problems.isEmpty == false, "\(name) byte \(place), \(random)")
            }
            try folder.replace(name, with: original)
        }
        #expect(try folder.verifyUnlocked()?.problems == [])
    }

    /// Heads and anchors of any form are refused and not misread.
    @Test func anyBytesAreRead() throws {
        var random = SeededGenerator()
        let folder = try filled()
        let files = try FolderContents(of: folder.path)
        for round in 0..<TestScale.count(60, soak: 2_000) {
            try files.restore(to: folder.path)
            for (name, isMeant) in [("audit-looks.head", round % 3 != 1), ("audit.anchor", round % 3 != 0)]
            where isMeant {
                try folder.replace(name, with: random.mutated(try #require(files[name])))
            }
            let changed = try FolderContents(of: folder.path)
            guard changed != files else { continue }
            // A head with one slot left still has the key. Then the log tells of the other slot, and nothing else is
            // wrong.
            let isAnchorChanged = changed["audit.anchor"] != files["audit.anchor"]
            #expect(try isFound(folder, unlocking: isAnchorChanged), "\(random)")
            #expect(try folder.records().last { $0.log == "looks" }?.items == 100, "\(random)")
        }
    }

    /// The oldest files are removed, and empty ones make the log look as full as one whose oldest files had to go.
    @Test func olderFilesAreRemoved() throws {
        var limits = AuditLimits()
        limits.file = 3_000
        limits.kept = 3
        let folder = try filled(limits: limits)
        let log = folder.log()
        for number in 0..<30 { log.record(.read(number)) }
        #expect(try folder.verifyUnlocked()?.problems == [])
        #expect(try folder.contents("audit-looks.log.2").count >= 3_000)
        for name in ["audit-looks.log.2", "audit-looks.log.3"] { try folder.replace(name, with: Data()) }
        #expect(try isFound(folder))
    }

    /// Whoever had the folder at an earlier time has the key of that time, until the next anchor.
    @Test func aKeyFromBeforeTheAnchorIsWorthNothing() throws {
        let folder = try AuditFolder()
        let log = folder.log()
        log.record(.read(0))
        #expect(log.anchor(isExpected: false) == .done)
        let stolen = try #require(try Forger(folder).presentKey())
        for number in 1..<5 { log.record(.read(number)) }
        #expect(folder.anchor() == .done)
        for number in 5..<9 { log.record(.read(number)) }
        let files = try FolderContents(of: folder.path)
        var forger = Forger(folder)
        forger.stolen = (3, stolen)
        for index in 6..<10 {
            try files.restore(to: folder.path)
            var lines = try forger.lines()
            lines.remove(at: index)
            try forger.write(lines, from: index, numbered: true, tags: .own, headTags: .present)
            #expect(try isFound(folder))
        }
        // No slot of the head has a key of the former chain.
        try files.restore(to: folder.path)
        #expect(try forger.presentKey() != stolen)
        #expect(try Set(folder.contents("audit-looks.head").split(separator: 0x0A).map { $0.count }) == [511])
    }

    /// Any mixture of the above.
    @Test func anyForgery() throws {
        var random = SeededGenerator()
        let folder = try filled()
        let older = try folder.contents("audit.anchor")
        #expect(folder.anchor() == .done)
        let log = folder.log()
        for number in 9..<15 { log.record(.read(number)) }
        let files = try FolderContents(of: folder.path)
        let forger = Forger(folder)
        for _ in 0..<TestScale.count(60, soak: 1_000) {
            try files.restore(to: folder.path)
            var lines = try forger.lines()
            let index = 1 + random.int(below: lines.count - 1)
            switch random.int(below: 5) {
            case 0: lines.remove(at: index)
            case 1: lines.removeLast(lines.count - index)
            case 2: lines.insert(lines[random.int(below: index)], at: index)
            case 3: lines.swapAt(index, index - 1)
            default:
                let text = String(decoding: lines[index], as: UTF8.self)
                lines[index] = Data(text.replacingOccurrences(of: #""time":17"#, with: #""time":16"#).utf8)
            }
            let tags = Forger.Tags.allCases
            try forger.write(
                lines, from: max(0, index - random.int(below: 2)), numbered: random.int(below: 4) > 0,
                tags: tags[random.int(below: tags.count)], headTags: tags[random.int(below: tags.count)])
            switch random.int(below: 4) {
            case 0: unlink(folder.path + "/audit.anchor")
            case 1: try folder.replace("audit.anchor", with: older)
            default: break
            }
            #expect(try isFound(folder), "\(random)")
        }
    }
}
