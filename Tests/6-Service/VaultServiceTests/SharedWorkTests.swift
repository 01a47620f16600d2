import Access
import Bytes
import Foundation
import Frames
import Glibc
import KeychainModel
import TestSupport
import Testing
import VaultInterface
import VaultService

/// What a program with a group of its own and no right does, keeps no other program from its items.
@Suite struct SharedWorkTests {
    private let daemon: DaemonUnderTest
    private let vault: RemoteVault

    init() throws {
        daemon = try DaemonUnderTest(["--rate", "0"])
        vault = try daemon.connect()
    }

    private func add(_ count: Int, of service: String, size: Int) throws {
        for number in 0..<count {
            var item = NewItem.password(service, "\(number)", "")
            item.value = Data(repeating: UInt8(truncatingIfNeeded: number), count: size)
            _ = try vault.add(item, as: vault.granted)
        }
    }

    @Test func aLongListIsWholeAndEachItemIsInItOnce() throws {
        // More than fits into a slice, in rows; a value that takes one for itself, first, in the middle and last.
        let count = 1_100
        for number in 0..<count {
            var item = NewItem.password("many", "\(number)", "")
            item.value = Data(repeating: 7, count: [0, 550, 1_099].contains(number) ? 3 << 20 : 10)
            _ = try vault.add(item, as: vault.granted)
        }
        let query = ItemQuery.password("many", limit: nil)
        for includingValues in [false, true] {
            let found = try vault.copy(query, includingValues: includingValues, as: vault.granted)
            #expect(Set(found.map(\.identifier)).count == count && found.count == count)
            #expect(found.map(\.creationDate) == found.map(\.creationDate).sorted())
        }
        var few = query
        few.limit = 1_050
        #expect(try vault.copy(few, includingValues: true, as: vault.granted).count == 1_050)
        // One transaction of a program may not change so many.
        let error = #expect(throws: VaultError.self) {
            try vault.update(query, with: ItemChanges(attributes: [.label: .string("x")]), as: vault.granted)
        }
        #expect(error?.description.contains("at once") == true)
        #expect(try vault.delete(query, as: vault.granted) == count)
        #expect(throws: VaultError.itemNotFound) {
            try vault.copy(query, includingValues: false, as: vault.granted)
        }
    }

    @Test func answersThatNobodyReadsTakeLittleMemory() throws {
        try add(12, of: "large", size: 16 << 20)
        let process = try #require(daemon.processNumber)
        let all = ItemQuery.password("large", limit: nil)
        let frame = FrameBuffer()
        frame.appendRequest(CopyItems(all, includingValues: true), claim: vault.granted, canAsk: false)
        let before = try memory(of: process)
        var deaf: [FrameSocket] = []
        for _ in 0..<8 {
            let socket = try daemon.greeted()
            try socket.send(frame, within: Patience.duration)
            deaf.append(socket)
        }
        // Until the first of them fills its socket.
        try eventually("an answer begins") {
            var waiting: Int32 = 0
            return deaf.contains {
                ioctl($0.descriptor, UInt(truncatingIfNeeded: FIONREAD), &waiting) == 0 && waiting > 100_000
            }
        }
        for _ in 0..<20 {
            let found = try vault.copy(.password("large", "3"), includingValues: false, as: vault.granted)
            #expect(found.count == 1)
        }
        // All of their answers would take 1.5 GiB.
        #expect(try memory(of: process) - before < 256 << 10)
    }

    /// The largest memory that a process has had, in KiB.
    private func memory(of process: pid_t) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }?.split(separator: " ").dropLast().last
        return try #require(peak.flatMap { Int($0) })
    }

    @Test func halfRequestsMakeRoomBeforeOthers() throws {
        // Nothing is given up for its time.
        var limits = ServerUnderTest.patient
        limits.connections = 16
        let server = try ServerUnderTest(limits)
        let honest = try server.connect()
        _ = try honest.status(as: honest.granted)
        var half: [FrameSocket] = []
        for _ in 0..<60 {
            let socket = try server.greeted()
            let bytes: [UInt8] = [0, 0, 1]
            _ = Glibc.send(socket.descriptor, bytes, bytes.count, Int32(truncatingIfNeeded: MSG_NOSIGNAL))
            half.append(socket)
            try withDeadline("others are answered") { _ = try server.connect().status(as: honest.granted) }
        }
    }
}
