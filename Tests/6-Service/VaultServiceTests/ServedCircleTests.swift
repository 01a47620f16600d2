import Access
import CircleFolder
import Foundation
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface
import VaultService

/// A circle of vaults that daemons serve, with carriers that may do nothing else.
@Suite struct ServedCircleTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func server(_ rights: CallerRights) throws -> ServerUnderTest {
        var rule = Entitlements.Rule.ownProgram([])
        rule.rights = rights
        return try ServerUnderTest(ServerUnderTest.patient, rules: [rule])
    }

    private func change(_ server: ServerUnderTest, _ change: ChangeCircle.Change) throws -> CircleChanged {
        try server.vault.perform(ChangeCircle(change), as: .owner)
    }

    @Test func aCarrierReadsNoItem() throws {
        let servers = try [server(.synchronize), server(.synchronize)]
        // An optimized program ends them after their last use, and their clients go on.
        defer { withExtendedLifetime(servers) {} }
        let remotes = try servers.map { try $0.connect() }
        let carriers = remotes.map { FolderCarrier($0, as: $0.granted, folder: folder.path) }
        _ = try change(servers[0], .create(name: "one", groups: ["TEAM.app"], location: ""))
        let secret = try #require(try change(servers[0], .invite(count: 1, seconds: 3_600, rights: 15)).secret)
        _ = try change(servers[1], .join(secret: secret, name: "two", location: "", groups: ["TEAM.app"]))
        for _ in 0..<2 { for carrier in carriers { try carrier.synchronize() } }
        let request = try #require(try servers[0].vault.perform(ReadCircle(), as: .owner).requests.first)
        _ = try change(servers[0], .approve(request: request.identifier, groups: nil))
        var item = NewItem.password("service", "alice", "secret")
        (item.isSynchronizable, item.accessGroup) = (true, "TEAM.app")
        _ = try servers[0].vault.add(item, as: .owner)
        for _ in 0..<2 { for carrier in carriers { try carrier.synchronize() } }
        var query = ItemQuery.password("service", "alice")
        query.synchronizable = .any
        #expect(try servers[1].vault.items(query, as: .owner).first?.value == Data("secret".utf8))
        #expect(carriers[1].report.changed == 1 && carriers[1].report.refused == 0)

        let (remote, client) = (remotes[1], remotes[1].granted)
        #expect(try remote.items(query, as: client).isEmpty)
        for operation in [ReadCircle()] {
            #expect(throws: VaultError.self) { try remote.perform(operation, as: client) }
        }
        for change in [ChangeCircle.Change.leave, .remove(member: 1), .invite(count: 1, seconds: 60, rights: 15)] {
            #expect(throws: VaultError.self) { try remote.perform(ChangeCircle(change), as: client) }
        }
        #expect(throws: VaultError.self) {
            try remote.perform(ReadCircleConflicts(), as: client) { (_: CircleConflict) throws(VaultError) in }
        }
    }

    @Test func carryingNeedsTheRight() throws {
        let server = try server([.list, .unlock, .administer])
        let remote = try server.connect()
        _ = try change(server, .create(name: "one", groups: ["TEAM.app"], location: ""))
        let refusal = VaultError.accessDenied(.rightNotHeld(right: "synchronize", client: remote.granted.identifier))
        #expect(throws: (any Error).self) {
            try FolderCarrier(remote, as: remote.granted, folder: folder.path).synchronize()
        }
        do {
            _ = try remote.perform(TakeCircleObjects([], from: "folder"), as: remote.granted)
            Issue.record("it may carry")
        } catch {
            guard case .accessDenied(.rightNotHeld(right: "synchronize", _)) = error else {
                Issue.record("\(error), and not \(refusal)")
                return
            }
        }
    }

    /// A carrier that brings rubbish without end keeps no other program from its items.
    @Test func aFloodBesideAnHonestProgram() throws {
        let server = try ServerUnderTest(ServerUnderTest.patient)
        _ = try change(server, .create(name: "one", groups: ["TEAM.app"], location: ""))
        let remote = try server.connect()
        _ = try remote.add(.password("service", "alice", "secret"), as: remote.granted)
        let status = try server.vault.perform(ReadCircle(), as: .owner)
        let circle = try #require(status.circle)
        // Keys for this member that open under none of its keys, and certificates of members that nobody knows.
        var random = SeededGenerator()
        func junk(_ count: Int) -> Data { Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }) }
        let objects = (0..<CircleObject.most).map { number in
            let end = junk(number.isMultiple(of: 2) ? 1_269 : 115)
            return number.isMultiple(of: 2)
                ? CircleObject(
                    .delivery, key: junk(20),
                    value: Data("SKDELIVR".utf8) + [1] + circle + [0, 0, 0, 1, 2] + end)
                : CircleObject(
                    .certificate, key: junk(6),
                    value: Data("SKWRITER".utf8) + [1] + circle + [0, 0, 0, 9] + end)
        }
        let flood = Collected<Bool>()
        let count = 6
        let threads = DispatchGroup()
        for _ in 0..<3 {
            let carrier = try server.connect()
            DispatchQueue.global().async(group: threads) {
                for _ in 0..<(count / 3) {
                    let taken = try? carrier.perform(
                        TakeCircleObjects(objects, from: "folder"), as: carrier.granted)
                    flood.append(taken != nil)
                }
            }
        }
        var read = 0
        while flood.all.count < count {
            #expect(try remote.items(.password("service", "alice"), as: remote.granted).count == 1)
            read += 1
        }
        threads.wait()
        // Between two of its operations, it had its turn many times.
        #expect(read >= 2 * count, "\(read) reads beside \(flood.all)")
        #expect(flood.all.contains(true))
    }
}
