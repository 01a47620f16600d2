import Access
import Bytes
import Foundation
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

@testable import CircleFolder

@Suite struct CircleFolderTests {
    private let place: TemporaryFolder

    init() throws { place = try TemporaryFolder() }

    private func machines(_ count: Int) throws -> [MachineUnderTest] {
        try (0..<count).map { try MachineUnderTest("machine \($0)", folder: place.path(of: "\($0)")) }
    }

    /// Copies a file, or the beginning of it.
    private func copy(_ file: String, from: MachineUnderTest, to: MachineUnderTest, most: Int = .max) throws {
        let bytes = try Data(contentsOf: URL(filePath: from.folder + "/" + file))
        let target = URL(filePath: to.folder + "/" + file)
        try FileManager.default.createDirectory(
            at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        let present = (try? Data(contentsOf: target)) ?? Data()
        // Whatever copies replaces a file by a longer one.
        guard bytes.count > present.count else { return }
        try bytes.prefix(max(present.count, most)).write(to: target)
    }

    private func copyAll(_ machines: [MachineUnderTest]) throws {
        for from in machines {
            for to in machines where to !== from {
                for file in from.files() { try copy(file, from: from, to: to) }
            }
        }
    }

    private func settle(_ machines: [MachineUnderTest]) throws {
        for _ in 0..<3 {
            for machine in machines { try machine.carrier.synchronize() }
            try copyAll(machines)
        }
        for machine in machines { try machine.carrier.synchronize() }
    }

    @Test func oneFolderForTwo() throws {
        let shared = place.path(of: "shared")
        let machines = try ["a", "b"].map { try MachineUnderTest($0, folder: shared) }
        try MachineUnderTest.makeCircle(machines) {}
        try machines[0].put("alice", "one")
        for machine in machines { try machine.carrier.synchronize() }
        #expect(try machines[1].contents() == ["alice": "one"])
        #expect(machines[1].carrier.report.changed == 1)
        #expect(machines[1].carrier.report.alarms.isEmpty)
        // Nothing is left to do.
        for machine in machines { #expect(try !machine.carrier.synchronize()) }
    }

    /// No name of an item, a machine or a group, and no value, is in any file or its name.
    @Test func theFolderTellsNothing() throws {
        let machines = try machines(2)
        try MachineUnderTest.makeCircle(machines) { try copyAll(machines) }
        try machines[0].put("canary-account", "canary-value")
        try settle(machines)
        #expect(try machines[1].contents() == ["canary-account": "canary-value"])
        var found = 0
        for machine in machines {
            for file in machine.files() {
                found += 1
                let bytes = try Data(contentsOf: URL(filePath: machine.folder + "/" + file))
                for word in ["canary", "service", "machine", "TEAM", "alue"] {
                    #expect(bytes.range(of: Data(word.utf8)) == nil, "\(word) in \(file)")
                    #expect(!file.contains(word))
                }
            }
        }
        #expect(found >= 4)
    }

    /// Files come in any order, late and cut at any byte, clocks are wrong by hours, and carriers are killed: all
    /// machines end with the same items, and nothing is reported.
    @Test func anyOrderAndAnyCut() throws {
        var random = SeededGenerator()
        let machines = try (0..<4).map { number in
            let offset = Double.random(in: -7_200...7_200, using: &random)
            return try MachineUnderTest(
                "machine \(number)", folder: place.path(of: "\(number)"), now: { Date().addingTimeInterval(offset) })
        }
        try MachineUnderTest.makeCircle(machines) { try copyAll(machines) }
        try settle(machines)
        for round in 0..<TestScale.count(150, soak: 4_000) {
            let machine = machines[Int.random(in: 0..<4, using: &random)]
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1: try machine.put("\(Int.random(in: 0..<8, using: &random))", "value \(round)")
            case 2: try machine.carrier.synchronize()
            case 3:
                let other = machines[Int.random(in: 0..<4, using: &random)]
                guard other !== machine, let file = machine.files().randomElement(using: &random) else { continue }
                let size = try Data(contentsOf: URL(filePath: machine.folder + "/" + file)).count
                let most = Bool.random(using: &random) ? size : Int.random(in: 0...size, using: &random)
                try copy(file, from: machine, to: other, most: most)
            default: machine.restartCarrier()
            }
        }
        try settle(machines)
        let contents = try machines.map { try $0.contents() }
        #expect(Set(contents).count == 1 && contents[0].count == 8)
        for machine in machines {
            #expect(machine.carrier.report.alarms.isEmpty, "\(machine.carrier.report.alarms)")
            #expect(machine.carrier.report.refused == 0)
        }
    }

    /// What a kill left behind the last commit is no file of a member, and is overwritten.
    @Test func halfAFrameIsOverwritten() throws {
        let machines = try machines(2)
        try MachineUnderTest.makeCircle(machines) { try copyAll(machines) }
        for round in 0..<8 {
            let own = try #require(machines[0].files().last { $0.contains("/00000001/") })
            let path = URL(filePath: machines[0].folder + "/" + own)
            machines[0].restartCarrier()
            try (Data(contentsOf: path) + Data([0, 0, 1, 0, 1, 32]).prefix(round)).write(to: path)
            try machines[0].put("\(round)", "value \(round)")
            try machines[0].carrier.synchronize()
        }
        try settle(machines)
        #expect(try machines[1].contents() == machines[0].contents())
        #expect(try machines[1].contents().count == 8 && machines[1].carrier.report.alarms.isEmpty)
    }

    @Test func manySegments() throws {
        let machines = try machines(2)
        try MachineUnderTest.makeCircle(machines) { try copyAll(machines) }
        for round in 0..<10 {
            try machines[0].put("\(round)", String(repeating: "\(round)", count: 300_000))
            try machines[0].carrier.synchronize()
        }
        #expect(machines[0].files().filter { $0.contains("/00000001/") }.count > 2)
        try settle(machines)
        #expect(try machines[1].contents() == machines[0].contents())
        #expect(machines[1].carrier.report.alarms.isEmpty)
    }

    /// Whoever changes a member's files is noticed, and the files of other members are read on.
    @Test(arguments: ["shorter", "other head", "other frame"]) func changedFilesAreReported(how: String) throws {
        let machines = try machines(3)
        try MachineUnderTest.makeCircle(machines) { try copyAll(machines) }
        try machines[0].put("before", "1")
        try settle(machines)
        let file = try #require(machines[0].files().first { $0.contains("/00000001/") })
        let path = URL(filePath: machines[2].folder + "/" + file)
        var bytes = try Data(contentsOf: path)
        switch how {
        case "shorter": bytes.removeLast(40)
        default:
            // It grew, and something else in it is not what it was.
            try machines[0].put("after", "2")
            try machines[0].carrier.synchronize()
            var longer = try Data(contentsOf: URL(filePath: machines[0].folder + "/" + file))
            longer[how == "other head" ? 40 : bytes.count + 60] ^= 1
            bytes = longer
        }
        try bytes.write(to: path)
        try machines[1].put("other", "1")
        try machines[1].carrier.synchronize()
        for file in machines[1].files() where file.contains("/00000002/") {
            try copy(file, from: machines[1], to: machines[2])
        }
        try machines[2].carrier.synchronize()
        #expect(machines[2].carrier.report.alarms.contains { $0.contains("member 1") })
        #expect(try machines[2].contents() == ["before": "1", "other": "1"])
        // The right file comes back.
        try Data(contentsOf: URL(filePath: machines[0].folder + "/" + file)).write(to: path)
        try machines[2].carrier.synchronize()
        #expect(try machines[2].contents()["after"] == (how == "shorter" ? nil : "2"))
    }

    @Test func whatIsOnlyOutOfReachIsNotLost() throws {
        let machines = try machines(2)
        try MachineUnderTest.makeCircle(machines) { try copyAll(machines) }
        try machines[0].put("alice", "1")
        try settle(machines)
        // The folder is not mounted.
        try FileManager.default.moveItem(atPath: machines[1].folder, toPath: machines[1].folder + ".away")
        #expect(throws: FolderCarrierError.missing(path: machines[1].folder)) { try machines[1].carrier.synchronize() }
        // Or it is mounted, and empty.
        try FileManager.default.createDirectory(atPath: machines[1].folder, withIntermediateDirectories: false)
        try machines[1].carrier.synchronize()
        #expect(try machines[1].contents() == ["alice": "1"])
        try FileManager.default.removeItem(atPath: machines[1].folder)
        try FileManager.default.moveItem(atPath: machines[1].folder + ".away", toPath: machines[1].folder)
        try machines[1].put("bob", "2")
        try settle(machines)
        #expect(try machines[0].contents() == ["alice": "1", "bob": "2"])
    }

    /// Two processes of one machine do not write over each other.
    @Test func oneCarrierAtATime() throws {
        let machines = try machines(1)
        try MachineUnderTest.makeCircle(machines) {}
        try machines[0].carrier.synchronize()
        let second = FolderCarrier(machines[0].vault, as: .owner, folder: machines[0].folder)
        try machines[0].put("alice", "1")
        #expect(throws: FolderCarrierError.self) { try second.synchronize() }
        machines[0].restartCarrier()
        try second.synchronize()
    }

    // MARK: Segments

    @Test func fuzzSegments() throws {
        let (circle, member) = (Data(repeating: 1, count: 16), UInt32(7))
        let (head, start) = SegmentFile.head(circle: circle, member: member, segment: 0, before: Data(count: 32))
        let objects = (0..<3).map { CircleObject(.record, key: Data(count: 32), value: Data(repeating: $0, count: 90)) }
        let (group, end) = SegmentFile.group(objects, after: start)
        let (second, last) = SegmentFile.group([], after: end)
        let whole = head + group + second
        func scan() -> SegmentScan { SegmentScan(circle, member, 0, before: Data(count: 32)) }
        var honest = scan()
        let read = try honest.next(in: SegmentSource(Array(whole)))
        #expect(read?.objects == objects && read?.place == last)
        var run = FuzzRun("circle-segment", samples: [whole, head + group], plain: 3_000, soak: 1_000_000)
        try run.run { input in
            var scan = scan()
            let source = SegmentSource(Array(input))
            guard let found = try? scan.next(in: source) else { return false }
            // What is read goes on from there.
            var rest = SegmentScan(circle, member, after: found.place)
            if try rest.next(in: source) != nil { throw FuzzFinding("a place is not the last") }
            return true
        }
    }
}
