import Access
import Foundation
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

@testable import CircleFolder

/// Vaults that were restored from a copy, and copies that run beside the original.
@Suite struct CopiedVaultTests {
    private let place: TemporaryFolder

    init() throws { place = try TemporaryFolder() }

    /// Two machines in a circle; the vault of the first is on disk.
    private func circle() throws -> [MachineUnderTest] {
        let first = try MachineUnderTest(
            "first", folder: place.path(of: "first"), vault: EmbeddedVault.open(at: place.path(of: "vault")))
        let machines = [first, try MachineUnderTest("second", folder: place.path(of: "second"))]
        try MachineUnderTest.makeCircle(machines) { try exchange(machines) }
        try machines[0].put("before", "1")
        try settle(machines)
        return machines
    }

    private func copy(of machine: MachineUnderTest, _ name: String, folder: String) throws -> MachineUnderTest {
        machine.close()
        try FileManager.default.copyItem(atPath: place.path(of: "vault"), toPath: place.path(of: name))
        try machine.open(EmbeddedVault.open(at: place.path(of: "vault")))
        return try MachineUnderTest(name, folder: folder, vault: EmbeddedVault.open(at: place.path(of: name)))
    }

    /// Brings files to all machines as Syncthing does: where two changed one file, the one that is kept gets its name,
    /// and the other one another.
    private func exchange(_ machines: [MachineUnderTest]) throws {
        for from in machines {
            for to in machines where to !== from {
                for file in from.files() {
                    let bytes = try Data(contentsOf: URL(filePath: from.folder + "/" + file))
                    let target = to.folder + "/" + file
                    let present = (try? Data(contentsOf: URL(filePath: target))) ?? Data()
                    guard bytes != present, !present.starts(with: bytes) else { continue }
                    if !bytes.starts(with: present) {
                        let conflict = target.dropLast(4) + ".sync-conflict-20260101-120000-ABCDEFG.seg"
                        try present.write(to: URL(filePath: String(conflict)))
                    }
                    try FileManager.default.createDirectory(
                        at: URL(filePath: target).deletingLastPathComponent(), withIntermediateDirectories: true)
                    try bytes.write(to: URL(filePath: target))
                }
            }
        }
    }

    private func settle(_ machines: [MachineUnderTest]) throws {
        for _ in 0..<3 {
            for machine in machines { _ = try? machine.carrier.synchronize() }
            try exchange(machines)
        }
    }

    /// A vault that comes back from a backup learns first what it wrote since, and goes on from there.
    @Test func aRestoredVaultReadsItsOwnFolderFirst() throws {
        let machines = try circle()
        let backup = try copy(of: machines[0], "backup", folder: machines[0].folder)
        for round in 0..<5 {
            try machines[0].put("\(round)", "original")
            try machines[0].put("before", "\(round)")
            try machines[0].carrier.synchronize()
        }
        machines[0].close()
        try backup.put("after", "restored")
        try backup.carrier.synchronize()
        #expect(backup.carrier.report.alarms.count == 1)
        #expect(backup.carrier.report.alarms.first?.contains("restored from a copy") == true)
        let restored = [backup, machines[1]]
        try settle(restored)
        #expect(try backup.contents().count == 7 && backup.contents()["before"] == "4")
        #expect(try machines[1].contents() == backup.contents())
        #expect(machines[1].carrier.report.alarms.isEmpty && machines[1].carrier.report.refused == 0)
        // From then on it is a vault as any other.
        backup.restartCarrier()
        try backup.put("later", "restored")
        try settle(restored)
        #expect(backup.carrier.report.alarms.isEmpty && machines[1].carrier.report.alarms.isEmpty)
        #expect(try machines[1].contents() == backup.contents())
    }

    /// A copy of a vault runs beside it, each with its own copy of the folder: both are told, so is everybody else, and
    /// nobody loses what either of them wrote.
    @Test func aCopyBesideTheOriginal() throws {
        var machines = try circle()
        machines.append(try copy(of: machines[0], "clone", folder: place.path(of: "clone")))
        try exchange(machines)
        for round in 0..<4 {
            try machines[0].put("\(round)", "original")
            try machines[2].put("\(round + 10)", "clone")
            try settle(machines)
        }
        let all = ["before"] + (0..<4).flatMap { ["\($0)", "\($0 + 10)"] }
        #expect(try Set(machines[1].contents().keys).isSuperset(of: ["0", "10"]))
        for machine in machines {
            #expect(
                machine.carrier.report.alarms.contains { $0.contains("leave --only-here") }, "\(machine.carrier.report)"
            )
        }
        try joinAnew(machines[2], machines)
        // The original's files as it wrote them, and no copies.
        try restoreFiles(of: machines)
        for machine in machines { machine.restartCarrier() }
        try settle(machines)
        try settle(machines)
        for machine in machines {
            #expect(try Set(machine.contents().keys) == Set(all), "\(machine.name)")
            #expect(try machine.contents() == machines[0].contents())
        }
    }

    /// Has a vault join as another member, and take along what it has.
    private func joinAnew(_ machine: MachineUnderTest, _ machines: [MachineUnderTest]) throws {
        _ = try machine.change(.forget)
        #expect(try machine.status().standing == .none)
        let secret = try #require(try machines[1].change(.invite(count: 1, seconds: 86_400, rights: 15)).secret)
        _ = try machine.change(
            .join(secret: secret, name: machine.name, location: "", groups: [MachineUnderTest.group]))
        try settle(machines)
        let request = try #require(try machines[1].status().requests.first)
        _ = try machines[1].change(.approve(request: request.identifier, groups: nil))
    }

    /// What copies the folder keeps one of two files, and the other one is gone: nothing is lost that its vault has.
    @Test func overwrittenByACopy() throws {
        var machines = try circle()
        machines.append(try copy(of: machines[0], "clone", folder: place.path(of: "clone")))
        try exchange(machines)
        try machines[0].put("original", "1")
        try machines[2].put("clone", "2")
        for machine in machines { try machine.carrier.synchronize() }
        for file in machines[2].files() where file.contains("/00000001/") {
            for machine in machines[..<2] {
                try Data(contentsOf: URL(filePath: machines[2].folder + "/" + file))
                    .write(to: URL(filePath: machine.folder + "/" + file))
            }
        }
        try machines[0].put("later", "3")
        #expect(throws: FolderCarrierError.self) { try machines[0].carrier.synchronize() }
        try machines[1].carrier.synchronize()
        #expect(try machines[1].contents() == ["before": "1", "clone": "2"])
        try joinAnew(machines[0], machines)
        try settle(machines)
        try settle(machines)
        for machine in machines {
            #expect(
                try machine.contents() == ["before": "1", "clone": "2", "original": "1", "later": "3"],
                "\(machine.name)")
        }
    }

    /// Removes the copies; the member's files are, everywhere, those that go on where its vault stands.
    private func restoreFiles(of machines: [MachineUnderTest]) throws {
        let state = try machines[0].vault.perform(CollectCircleObjects(for: "folder", limit: 0), as: .owner) {
            (_: CircleObject) throws(VaultError) in
        }
        let end = try #require(state.place.map(FolderPlaces.init(decoding:))?.members[1]?.place)
        let all = machines.flatMap { machine in machine.files().map { machine.folder + "/" + $0 } }
        let own = all.filter { $0.contains("/00000001/") }
        let right = try #require(
            own.map { (try? Data(contentsOf: URL(filePath: $0))) ?? Data() }.first { bytes in
                var scan = SegmentScan(state.circle ?? Data(), 1, 0, before: Data(count: 32))
                let source = SegmentSource(Array(bytes))
                while (try? scan.next(in: source)) ?? nil != nil {
                    if scan.place == end { return true }
                }
                return false
            })
        for file in own {
            if file.contains("conflict") {
                try FileManager.default.removeItem(atPath: file)
            } else {
                try right.write(to: URL(filePath: file))
            }
        }
    }

    /// Where the folder was emptied, or somebody wrote over a vault's files, it writes nothing, says so, and keeps all.
    @Test(arguments: ["gone", "shorter", "fifo", "another"]) func ownFilesThatAreNotItsOwn(how: String) throws {
        let machines = try circle()
        let file = try #require(machines[0].files().first { $0.contains("/00000001/") })
        let path = machines[0].folder + "/" + file
        let bytes = try Data(contentsOf: URL(filePath: path))
        try FileManager.default.removeItem(atPath: path)
        switch how {
        case "shorter": try bytes.dropLast(40).write(to: URL(filePath: path))
        case "fifo": #expect(mkfifo(path, 0o600) == 0)
        case "another":
            var other = bytes
            other[50] ^= 1
            try other.write(to: URL(filePath: path))
        default: try FileManager.default.removeItem(at: URL(filePath: path).deletingLastPathComponent())
        }
        try machines[0].put("after", "2")
        machines[0].restartCarrier()
        #expect(throws: FolderCarrierError.ownFiles(path: URL(filePath: path).deletingLastPathComponent().path)) {
            try machines[0].carrier.synchronize()
        }
        #expect(try machines[0].status().outgoing > 0)
        #expect(try machines[0].contents() == ["before": "1", "after": "2"])
        // What others write still comes.
        try machines[1].put("other", "3")
        try machines[1].carrier.synchronize()
        for file in machines[1].files() where file.contains("/00000002/") {
            let target = URL(filePath: machines[0].folder + "/" + file)
            try FileManager.default.createDirectory(
                at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(contentsOf: URL(filePath: machines[1].folder + "/" + file)).write(to: target)
        }
        #expect(throws: FolderCarrierError.self) { try machines[0].carrier.synchronize() }
        #expect(try machines[0].contents()["other"] == "3")
        // The folder comes back.
        if how != "gone" { try FileManager.default.removeItem(atPath: path) }
        try FileManager.default.createDirectory(
            at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
        try bytes.write(to: URL(filePath: path))
        try settle(machines)
        #expect(try machines[1].contents() == machines[0].contents())
        #expect(machines[1].carrier.report.alarms.isEmpty)
    }
}
