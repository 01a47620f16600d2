import Access
import Audit
import Foundation
import Glibc
import TestSupport
import Testing
import Vault
import VaultInterface

/// Whatever is done to the files of a log is found, before and after the vault goes on writing to it.
@Suite struct TamperingTests {
    private static let count = 5

    private func filled() throws -> AuditFolder {
        let folder = try AuditFolder()
        let log = folder.log()
        for number in 0..<Self.count { log.record(.read(number)) }
        #expect(try folder.verify() == AuditReport(records: Self.count + 1))
        return folder
    }

    /// Whether a vault that opens the log and goes on writing still finds what was done.
    private func isFound(_ folder: AuditFolder) throws -> Bool {
        let before = try folder.verify()?.problems.isEmpty == false
        folder.log().record(.read(99))
        return try before && folder.verify()?.problems.isEmpty == false
    }

    @Test func everyByte() throws {
        let folder = try filled()
        for name in ["audit-looks.log", "audit-looks.head"] {
            let original = try folder.contents(name)
            var random = SeededGenerator()
            let step = TestScale.count(4, soak: 1)
            for place in stride(from: random.int(below: step), to: original.count, by: step) {
                var changed = original
                changed[place] ^= 1 << UInt8(random.int(below: 8))
                try folder.replace(name, with: changed)
                #expect(try folder.verify()?.problems.isEmpty == false, "\(name) byte \(place)")
            }
            try folder.replace(name, with: original)
        }
        #expect(try folder.verify()?.problems == [])
    }

    @Test func everyLineDeletedDoubledOrSwapped() throws {
        let folder = try filled()
        let original = try folder.contents()
        let head = try folder.contents("audit-looks.head")
        let lines = original.split(separator: 0x0A).map { Data($0) + [0x0A] }
        var variants: [[Data]] = []
        for number in lines.indices {
            variants.append(lines.enumerated().filter { $0.offset != number }.map(\.element))
            variants.append(Array(lines[...number] + lines[number...]))
            if number > 0 {
                var swapped = lines
                swapped.swapAt(number, number - 1)
                variants.append(swapped)
                // The log ends earlier, with and without a torn record after it.
                variants.append(Array(lines[..<number]))
                variants.append(lines[..<number] + [lines[number].prefix(30)])
            }
        }
        for (number, variant) in variants.enumerated() {
            try folder.replace(with: Data(variant.joined()))
            try folder.replace("audit-looks.head", with: head)
            #expect(try isFound(folder), "variant \(number)")
        }
    }

    /// The log is as long as it was, and what comes next must not become a part of its last line.
    @Test func theLastLineDoesNotEnd() throws {
        let folder = try filled()
        var changed = try folder.contents()
        changed[changed.count - 1] ^= 1
        try folder.replace(with: changed)
        #expect(try isFound(folder))
        #expect(try folder.records(AuditQuery(limit: 1)).first?.items == 99)
        folder.log().record(.read(100))
        #expect(try folder.records(AuditQuery(limit: 2)).map(\.items) == [99, 100])
        #expect(try folder.records(AuditQuery()).contains { $0.failure == "foreign" })
    }

    @Test func anythingElse() throws {
        let folder = try filled()
        let original = try folder.contents()
        let head = try folder.contents("audit-looks.head")
        var random = SeededGenerator()
        for round in 0..<TestScale.count(300, soak: 20_000) {
            let changed = random.mutated(original)
            guard changed != original else { continue }
            try folder.replace(with: changed)
            try folder.replace("audit-looks.head", with: head)
            #expect(try folder.verify()?.problems.isEmpty == false, "round \(round) of \(random)")
            // A torn end alone is what a crash leaves, and is no problem any more once it is on record.
            let isOnlyTorn = changed.starts(with: original) && !changed.dropFirst(original.count).contains(0x0A)
            folder.log().record(.read(99))
            if !isOnlyTorn { #expect(try folder.verify()?.problems.isEmpty == false, "round \(round) of \(random)") }
        }
    }

    @Test func aMissingFile() throws {
        for name in ["audit-looks.log", "audit-looks.head"] {
            let folder = try filled()
            unlink("\(folder.path)/\(name)")
            #expect(try isFound(folder), "\(name)")
        }
    }

    /// The head holds an older state of itself, and no older copy of any file is needed to put it back.
    @Test func theLastAppendCutWithTheOlderSlot() throws {
        struct Slot: Decodable { var size: Int }
        for appends in 1...3 {
            let folder = try AuditFolder()
            for number in 0..<appends { folder.log().record(.read(number)) }
            let head = try folder.contents("audit-looks.head")
            let slots = [Data(head.prefix(256)), Data(head.suffix(256))]
            let sizes = try slots.map { try JSONDecoder().decode(Slot.self, from: $0).size }
            let older = slots[sizes[0] < sizes[1] ? 0 : 1]
            let log = try folder.contents()
            for other in [older, Data(repeating: 0x20, count: 256)] {
                try folder.replace("audit-looks.head", with: older + other)
                try folder.replace(with: log.prefix(sizes.min() ?? 0))
                #expect(try isFound(folder), "\(appends) appends")
            }
        }
    }

    /// A log that is taken away with its head is missed by the other one, also when it has grown again.
    @Test func aLogThatIsTakenAwayWhole() throws {
        for part in ["audit", "audit-looks"] {
            let folder = try AuditFolder()
            func record(_ number: Int) {
                folder.log().record(.read(number))
                folder.log().record(AuditEvent(.written, client: "c", items: number))
            }
            for number in 0..<3 { record(number) }
            #expect(try folder.verify() == AuditReport(records: 8))
            for name in ["\(part).log", "\(part).head"] { unlink("\(folder.path)/\(name)") }
            #expect(try folder.verify()?.problems.isEmpty == false, "\(part)")
            for number in 0..<10 { record(number) }
            #expect(try folder.verify()?.problems.isEmpty == false, "\(part)")
        }
    }

    /// Records with right links and no right tags, made by somebody without the key.
    @Test func forgedRecords() throws {
        let folder = try filled()
        let forger = try AuditFolder(seal: AuditFolder.Seal(7))
        try forger.replace(with: folder.contents())
        try forger.replace("audit-looks.head", with: folder.contents("audit-looks.head"))
        forger.log(AuditFolder.Seal(7)).record(.read(1))
        // With the forger's head, and with the old one.
        try folder.replace(with: forger.contents())
        #expect(try folder.verify()?.problems.isEmpty == false)
        let head = try folder.contents("audit-looks.head")
        try folder.replace("audit-looks.head", with: forger.contents("audit-looks.head"))
        #expect(try folder.verify()?.problems.isEmpty == false)
        try folder.replace("audit-looks.head", with: head)
        #expect(try isFound(folder))
    }
}
