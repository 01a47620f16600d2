import Bytes
import Foundation
import KeychainModel
import Synchronization
import TestSupport
import Testing
import VaultInterface

@testable import CircleFolder

/// What a store withholds, rolls back or shows to one machine alone is noticed when others say what they have.
@Suite struct AgreementTests {
    private let place: TemporaryFolder
    private let clock = Clock()

    /// A clock that only a test moves.
    final class Clock: Sendable {
        private let date = Mutex(Date(timeIntervalSinceReferenceDate: 800_000_000))
        var now: @Sendable () -> Date { { [self] in date.withLock { $0 } } }
        func move(by seconds: TimeInterval) { date.withLock { $0 += seconds } }
    }

    init() throws { place = try TemporaryFolder() }

    private func circle(_ count: Int, _ name: String = "circle") throws -> [MachineUnderTest] {
        let machines = try (0..<count).map {
            try MachineUnderTest("machine \($0)", folder: place.path(of: "\(name) \($0)"), now: clock.now)
        }
        try MachineUnderTest.makeCircle(machines) { try copyAll(machines) }
        try settle(machines)
        return machines
    }

    private func bytes(_ file: String, _ machine: MachineUnderTest) -> Data {
        (try? Data(contentsOf: URL(filePath: machine.folder + "/" + file))) ?? Data()
    }

    private func write(_ bytes: Data, _ file: String, _ machine: MachineUnderTest) throws {
        let target = URL(filePath: machine.folder + "/" + file)
        try FileManager.default.createDirectory(
            at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        try bytes.write(to: target)
    }

    /// Copies the files of the members that a machine has to another, each as far as it is longer there.
    private func copy(_ members: [Int], from: MachineUnderTest, to: MachineUnderTest) throws {
        for file in from.files() where members.contains(where: { file.contains("/0000000\($0 + 1)/") }) {
            let bytes = bytes(file, from)
            if bytes.count > self.bytes(file, to).count { try write(bytes, file, to) }
        }
        for file in from.files() where file.hasSuffix(".req") { try write(bytes(file, from), file, to) }
    }

    private func copyAll(_ machines: [MachineUnderTest]) throws {
        for (number, from) in machines.enumerated() {
            for to in machines where to !== from { try copy([number], from: from, to: to) }
        }
    }

    private func settle(_ machines: [MachineUnderTest], rounds: Int = 3) throws {
        for _ in 0..<rounds {
            clock.move(by: 20)
            for machine in machines { try machine.carrier.synchronize() }
            try copyAll(machines)
        }
        for machine in machines { try machine.carrier.synchronize() }
    }

    private func file(of number: Int, _ machine: MachineUnderTest) throws -> String {
        try #require(machine.files().last { $0.contains("/0000000\(number + 1)/") })
    }

    /// Members that have nothing new are silent, however long they watch.
    @Test func aQuietCircleWritesNothing() throws {
        let machines = try circle(3)
        try machines[1].put("alice", "1")
        try settle(machines)
        try settle(machines)
        let before = machines[0].files().map { bytes($0, machines[0]) }
        for _ in 0..<20 {
            clock.move(by: 1_800)
            for machine in machines { #expect(try !machine.carrier.synchronize()) }
            try copyAll(machines)
        }
        #expect(machines[0].files().map { bytes($0, machines[0]) } == before)
        for machine in machines {
            #expect(machine.carrier.agreement == CircleFindings() && machine.carrier.report.alarms.isEmpty)
            let heads = try machine.status().members.map(\.heads.count)
            #expect(heads.count { $0 == 1 } == 2)
        }
    }

    /// What is late is told after ten minutes, by name, and no longer when it has come.
    @Test func whatIsMissingIsToldByName() throws {
        let machines = try circle(3)
        try machines[0].put("alice", "1")
        for machine in machines[..<2] {
            clock.move(by: 20)
            try machine.carrier.synchronize()
            try copyAll(Array(machines[..<2]))
        }
        try machines[1].carrier.synchronize()
        clock.move(by: 20)
        try machines[1].carrier.synchronize()
        // The third machine gets what the second wrote, and not what the first did.
        try copy([1], from: machines[1], to: machines[2])
        try machines[2].carrier.synchronize()
        #expect(machines[2].carrier.agreement.findings == [1: .withheld(by: 2)])
        #expect(machines[2].carrier.report.alarms.isEmpty)
        let since = machines[2].carrier.agreement.since[1]
        #expect(since != nil)
        clock.move(by: 300)
        // It is remembered since when, also by another process.
        machines[2].restartCarrier()
        try machines[2].carrier.synchronize()
        #expect(machines[2].carrier.agreement.since[1] == since && machines[2].carrier.report.alarms.isEmpty)
        clock.move(by: 301)
        try machines[2].carrier.synchronize()
        #expect(machines[2].carrier.report.alarms == [CircleFindings.Finding.withheld(by: 2).text(1)])
        #expect(try machines[2].carrier.lastAgreement() == machines[2].carrier.agreement)
        try copy([0], from: machines[0], to: machines[2])
        try machines[2].carrier.synchronize()
        #expect(machines[2].carrier.agreement == CircleFindings())
        #expect(try machines[2].contents() == ["alice": "1"])
    }

    /// A machine that comes new is shown older files of one member.
    @Test func anOlderStateForANewcomer() throws {
        var machines = try circle(2)
        let old = try bytes(file(of: 0, machines[0]), machines[0])
        try machines[0].put("alice", "1")
        try settle(machines)
        machines.append(try MachineUnderTest("newcomer", folder: place.path(of: "newcomer"), now: clock.now))
        // The second member lets it in: all that is of the first one is old.
        let secret = try #require(try machines[1].change(.invite(count: 1, seconds: 86_400, rights: 15)).secret)
        _ = try machines[2].change(
            .join(secret: secret, name: "newcomer", location: "", groups: [MachineUnderTest.group]))
        try write(old, file(of: 0, machines[0]), machines[2])
        for _ in 0..<7 {
            clock.move(by: 20)
            for machine in machines[1...] { try machine.carrier.synchronize() }
            try copy([1], from: machines[1], to: machines[2])
            try copy([2], from: machines[2], to: machines[1])
            if let request = try machines[1].status().requests.first {
                _ = try machines[1].change(.approve(request: request.identifier, groups: nil))
            }
        }
        #expect(try machines[2].status().standing == .member)
        #expect(machines[2].carrier.agreement.findings == [1: .withheld(by: 2)])
        try copy([0], from: machines[0], to: machines[2])
        try machines[2].carrier.synchronize()
        #expect(machines[2].carrier.agreement.findings.isEmpty)
        #expect(try machines[2].contents() == ["alice": "1"])
    }

    private enum Lie: CaseIterable {
        /// The end of what a member wrote is missing, from some byte on.
        case withheld
        /// So is what it wrote of the log.
        case logCut
        /// The machine reads everything anew, and finds an older state.
        case rolledBack
        /// It is shown another history than the second one: an object is another, or is left out.
        case otherHistory
    }

    /// Whatever is done to a member's files on the way to one machine, that machine notices it as soon as it hears of
    /// another one; and nothing is noticed any more when the right files come.
    @Test func randomManipulations() throws {
        var random = SeededGenerator()
        // Files that are read anew are short.
        for number in 0..<TestScale.count(1, soak: 125) {
            try manipulate(try circle(3, "circle \(number)"), rounds: 32, &random)
        }
    }

    private func manipulate(
        _ machines: [MachineUnderTest], rounds: Int, _ random: inout SeededGenerator
    ) throws {
        for round in 0..<rounds {
            let lie = Lie.allCases[round % Lie.allCases.count]
            let file = try file(of: 0, machines[0])
            let before = bytes(file, machines[2]).count
            for change in 0..<Int.random(in: 1...3, using: &random) {
                if lie == .logCut, change == 0 {
                    let made = try machines[0].change(.invite(count: 1, seconds: 3_600, rights: 8))
                    #expect(made.secret != nil)
                } else {
                    try machines[0].put("\(Int.random(in: 0..<5, using: &random))", "\(round) \(change)")
                }
                try machines[0].carrier.synchronize()
            }
            let end = try #require(machines[0].carrier.reader?.places[1]?.told.offset)
            // Rounds in which a new segment begins say nothing.
            guard try self.file(of: 0, machines[0]) == file, end > before else {
                try settle(machines, rounds: 2)
                continue
            }
            clock.move(by: 20)
            try machines[0].carrier.synchronize()
            let right = bytes(file, machines[0])
            try copy([0], from: machines[0], to: machines[1])
            try machines[1].carrier.synchronize()
            try copy([1], from: machines[1], to: machines[2])
            switch lie {
            case .withheld: try write(right.prefix(.random(in: before..<end, using: &random)), file, machines[2])
            case .logCut:
                try write(right.prefix(.random(in: before..<(before + 60), using: &random)), file, machines[2])
            case .rolledBack:
                try write(right.prefix(Int.random(in: 200..<end, using: &random)), file, machines[2])
                _ = try machines[2].vault.perform(TakeCircleObjects([], from: "folder", place: Data()), as: .owner)
                machines[2].restartCarrier()
            case .otherHistory:
                try write(other(right, after: before, before: end, &random), file, machines[2])
            }
            try machines[2].carrier.synchronize()
            let finding = machines[2].carrier.agreement.findings[1]
            #expect(finding != nil, "\(lie) in round \(round)")
            if lie == .logCut {
                #expect(machines[2].carrier.agreement.findings[2] == .longerLog, "\(lie) in round \(round)")
            }
            // The right files come. Who read another history reads them anew.
            try write(right, file, machines[2])
            if lie == .otherHistory {
                _ = try machines[2].vault.perform(TakeCircleObjects([], from: "folder", place: Data()), as: .owner)
                machines[2].restartCarrier()
            }
            try settle(machines, rounds: 2)
            for machine in machines {
                #expect(machine.carrier.agreement.findings.isEmpty, "\(lie): \(machine.carrier.agreement)")
            }
        }
        #expect(try machines[2].contents() == machines[0].contents())
    }

    /// A file with another history behind a place: an object between the two places is another, or is left out, and
    /// all chain values fit.
    private func other(
        _ bytes: Data, after: Int, before end: Int, _ random: inout SeededGenerator
    ) throws -> Data {
        let source = SegmentSource(Array(bytes))
        var frames: [(offset: Int, frame: Data)] = []
        var offset = SegmentFile.headSize
        while let frame = try SegmentFile.frame(in: source, at: offset) {
            frames.append((offset, Data(frame)))
            offset += frame.count
        }
        let victims = frames.indices.filter {
            frames[$0].offset >= after && frames[$0].offset < end && frames[$0].frame[4] != SegmentFile.commit
        }
        let victim = try #require(victims.randomElement(using: &random))
        if Bool.random(using: &random) {
            frames.remove(at: victim)
        } else {
            frames[victim].frame[4] = 200
        }
        var made = Data(bytes.prefix(SegmentFile.headSize))
        var chain = SegmentFile.chain(Data(), Array(made)[...])
        for (_, frame) in frames {
            let frame = frame[4] == SegmentFile.commit ? frame.prefix(5) + chain : frame
            chain = SegmentFile.chain(chain, Array(frame)[...])
            made += frame
        }
        return made
    }
}
