import Access
import Bytes
import DaemonLink
import Foundation
import Frames
import Glibc
import KeychainModel
import TestSupport
import Testing
import VaultInterface

@testable import VaultService

/// The room that long requests share.
@Suite struct RequestRoomTests {
    private let mail = ServedProgram(user: 1000, name: "mail")
    private let news = ServedProgram(user: 1000, name: "news")
    private let theirs = ServedProgram(user: 1001, name: "mail")

    @Test func whatBeganFirstAlwaysHasRoomAndTheOthersShare() {
        let budget = RequestBudget(bytes: 400, wholeRequest: 50)
        let first = budget.begin(mail)
        let second = budget.begin(mail)
        #expect(budget.reserve(50, for: first, within: .zero))
        // A quarter, less the room of the first.
        #expect(budget.reserve(50, for: second, within: .zero))
        #expect(!budget.reserve(51, for: second, within: .zero))
        let third = budget.begin(mail)
        #expect(!budget.reserve(1, for: third, within: .zero))
        // The second takes the place of the first, and leaves its own to the third.
        budget.end(first)
        #expect(budget.reserve(60, for: second, within: .zero))
        #expect(budget.reserve(50, for: third, within: .zero))
    }

    @Test func programsOfAUserLeaveRoomToOtherUsers() {
        let budget = RequestBudget(bytes: 400, wholeRequest: 50)
        _ = budget.begin(mail)
        let copies = (0..<8).map { budget.begin(ServedProgram(user: 1000, name: "copy\($0)")) }
        let taken = copies.filter { budget.reserve(50, for: $0, within: .zero) }
        // Half, less the room of the first of them.
        #expect(taken.count == 3)
        #expect(!budget.reserve(10, for: budget.begin(news), within: .zero))
        let other = budget.begin(theirs)
        #expect(budget.reserve(50, for: other, within: .zero))
        let another = budget.begin(theirs)
        #expect(budget.reserve(50, for: another, within: .zero))
    }

    @Test func whoWaitsGoesOnWhenRoomIsMade() throws {
        let budget = RequestBudget(bytes: 400, wholeRequest: 50)
        let claims = (0..<3).map { _ in budget.begin(mail) }
        for claim in claims.prefix(2) { #expect(budget.reserve(50, for: claim, within: .zero)) }
        let thread = Thread {
            #expect(budget.reserve(50, for: claims[2], within: Patience.duration))
            budget.end(claims[2])
        }
        thread.start()
        budget.end(claims[1])
        try eventually("there is room") { thread.isFinished }
    }

    private func largeRequest(_ client: Client) -> FrameBuffer {
        var item = NewItem.password("large", "value", "")
        item.value = Data(repeating: 1, count: 16 << 20)
        let frame = FrameBuffer()
        frame.appendRequest(PutItem(item), claim: client, canAsk: false)
        return frame
    }

    /// Sends what the other side takes in.
    private func sendSome(_ bytes: UnsafeRawBufferPointer, on socket: FrameSocket) {
        var sent = 0
        while sent < bytes.count {
            let count = Glibc.send(
                socket.descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent,
                Int32(truncatingIfNeeded: MSG_NOSIGNAL) | Int32(truncatingIfNeeded: MSG_DONTWAIT))
            guard count > 0 else { return }
            sent += count
        }
    }

    @Test func announcementsTakeNoRoom() throws {
        // They are never given up.
        let server = try ServerUnderTest(ServerUnderTest.patient)
        let client = try server.connect().granted
        let announcement: [UInt8] = [0x02, 0x40, 0x00, 0x00, 0x02] + [UInt8](repeating: 0, count: 70_000)
        let stalled = try (0..<60).map { _ in try server.greeted() }
        for socket in stalled { announcement.withUnsafeBytes { sendSome($0, on: socket) } }
        // The very program that made them is served.
        let socket = try server.greeted()
        let frame = largeRequest(client)
        try socket.send(frame, within: Patience.duration)
        #expect(try socket.receiveFrame(into: frame) == .result)
        withExtendedLifetime(stalled) {}
    }

    @Test func aProgramThatStallsLargeRequestsKeepsNoOtherOut() throws {
        // They are never given up.
        let server = try ServerUnderTest(ServerUnderTest.patient)
        let frame = largeRequest(try server.connect().granted)
        let stalled = try (0..<24).map { _ in try server.greeted() }
        let bytes = UnsafeRawBufferPointer(rebasing: frame.bytes.dropLast(1))
        // Until the server takes in no more of any.
        for _ in 0..<40 {
            for socket in stalled { sendSome(bytes, on: socket) }
            usleep(2_000)
        }
        // Another program: this one is the test's own.
        let storing = try Worker(["remote", server.socket, "put-large", "16"])
        #expect(storing.readLine() == "stored in \(Worker.executable)")
        withExtendedLifetime(stalled) {}
    }

    @Test func manyLargeRequestsOfOneProgramAllGoThrough() throws {
        let daemon = try DaemonUnderTest(["--rate", "0"])
        let clients = try (0..<8).map { _ in try daemon.connect() }
        let threads = clients.enumerated().map { number, client in
            Thread {
                var item = NewItem.password("large", "\(number)", "")
                item.value = Data(repeating: UInt8(truncatingIfNeeded: number), count: 16 << 20)
                do {
                    _ = try client.add(item, as: client.granted)
                } catch {
                    Issue.record(error)
                }
            }
        }
        for thread in threads { thread.start() }
        try eventually("all items are stored") { threads.allSatisfy(\.isFinished) }
    }
}
