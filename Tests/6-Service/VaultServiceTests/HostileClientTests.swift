import Access
import Bytes
import Connections
import DaemonLink
import Foundation
import Frames
import Glibc
import KeychainModel
import TestSupport
import Testing
import VaultInterface
import VaultService

/// Whatever some clients do, others are answered.
@Suite struct HostileClientTests {
    private let daemon: DaemonUnderTest
    private let vault: RemoteVault

    init() throws {
        daemon = try DaemonUnderTest(["--rate", "0"])
        vault = try daemon.connect()
        _ = try vault.add(.password("mail", "ada", "treasure"), as: vault.granted)
    }

    private func expectAnswer(after what: String = "", _ place: SourceLocation = #_sourceLocation) throws {
        try withDeadline("the daemon answers\(what)") {
            let other = try daemon.connect()
            let found = try other.copy(.password("mail", "ada"), includingValues: true, as: other.granted)
            #expect(found.first?.value == Data("treasure".utf8), sourceLocation: place)
        }
    }

    private func send(_ bytes: Data, on descriptor: Int32) {
        _ = bytes.withUnsafeBytes {
            Glibc.send(
                descriptor, $0.baseAddress, $0.count,
                Int32(truncatingIfNeeded: MSG_NOSIGNAL) | Int32(truncatingIfNeeded: MSG_DONTWAIT))
        }
    }

    @Test func malformedRequests() throws {
        var random = SeededGenerator()
        for round in 0..<TestScale.count(300, soak: 10_000) {
            let socket = round % 2 == 0 ? try daemon.greeted() : FrameSocket(try UnixSocket.connect(to: daemon.socket))
            send(random.bytes(1 + random.int(below: 400)), on: socket.descriptor)
        }
        try expectAnswer()
    }

    @Test func mutatedRequests() throws {
        var samples = WireSamples()
        for round in 1...TestScale.count(300, soak: 1_000_000) {
            if round.isMultiple(of: 10_000) {
                try expectAnswer(after: " after \(round) requests, seed \(samples.random.seed)")
            }
            let frame = FrameBuffer()
            let request = try samples.request()
            frame.appendRequest(request.operation, claim: request.claim, canAsk: request.canAsk)
            let bytes = samples.random.mutated(Data(frame.bytes))
            let socket = try daemon.greeted()
            send(bytes, on: socket.descriptor)
            // Half the time the answer is waited for.
            if samples.random.int(below: 2) == 0 {
                Glibc.shutdown(socket.descriptor, Int32(truncatingIfNeeded: SHUT_WR))
                _ = try? socket.receiveFrame(into: frame)
            }
        }
        try expectAnswer(after: ", seed \(samples.random.seed)")
    }

    /// Requests that a vault takes but for their numbers. Whatever was stored of them can be read.
    @Test func numbersAtTheEdges() throws {
        var samples = WireSamples(hasEdges: true)
        // These end the vault's use for others, as they should.
        let spared: Set<OperationCode> = [
            EraseVault.code, SetPasscode.code, ChangePasscode.code, RemovePasscode.code, RenewKeys.code,
            LockVault.code,
        ]
        let codes = OperationCode.allCases.filter { !spared.contains($0) }
        var (socket, answers) = (try daemon.greeted(), 0)
        let frame = FrameBuffer()
        for round in 1...TestScale.count(3_000, soak: 1_000_000) {
            let request = try samples.request(for: codes[samples.random.int(below: codes.count)])
            frame.removeAll()
            frame.appendRequest(request.operation, claim: request.claim, canAsk: request.canAsk)
            do {
                try socket.send(frame, within: Patience.duration)
                // Parts of an answer, and its end.
                while try socket.receiveFrame(into: frame, limit: 64 << 20) == .part {}
                answers += 1
            } catch {
                // What is no request ends the connection.
                socket = try daemon.greeted()
            }
            guard round.isMultiple(of: 500) else { continue }
            let place = " after \(round) requests, seed \(samples.random.seed)"
            try expectAnswer(after: place)
            let other = try daemon.connect()
            for itemClass in ItemClass.stored {
                var query = ItemQuery(itemClass: itemClass, synchronizable: .any)
                query.includesExpired = true
                let found = try other.items(query, as: Client(identifier: "x", accessGroups: [WireSamples.edgeGroup]))
                #expect(found.allSatisfy { $0.creationDate.isStorable && $0.expiry.isStorable }, "\(place)")
            }
        }
        #expect(answers > 100)
    }

    @Test func aThousandConnectionsAtRest() throws {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(truncatingIfNeeded: RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(truncatingIfNeeded: RLIMIT_NOFILE.rawValue), &limit)
        var resting: [FrameSocket] = []
        for _ in 0..<1000 { resting.append(try daemon.greeted()) }
        try expectAnswer()
        #expect(try resting.allSatisfy { try status(on: $0) != nil })
    }

    @Test func moreConnectionsThanThereCanBeTakeThePlaceOfTheOldest() throws {
        let small = try DaemonUnderTest(["--connections", "8"])
        let first = try small.greeted()
        var rest: [FrameSocket] = []
        for _ in 0..<40 { rest.append(try small.greeted()) }
        #expect(throws: (any Error).self) { try status(on: first) }
        #expect(try status(on: #require(rest.last)) != nil)
    }

    /// The status that the daemon reports on this connection.
    private func status(on socket: FrameSocket) throws -> VaultStatus? {
        let frame = FrameBuffer()
        let client = Client(identifier: "x", accessGroups: ["*"])
        frame.appendRequest(ReadStatus(), claim: client, canAsk: false)
        try socket.send(frame, within: Patience.duration)
        let kind = try socket.receiveFrame(into: frame)
        guard kind == .result else { return nil }
        var reader = FrameReader(frame, from: 1)
        _ = try reader.integer(UInt32.self)
        return try VaultStatus(from: &reader)
    }

    @Test func halfOpenAndSlowConnections() throws {
        var open: [FrameSocket] = []
        for _ in 0..<50 {
            // Nothing at all; a greeting cut short; a request cut short; an end of writing.
            open.append(FrameSocket(try UnixSocket.connect(to: daemon.socket)))
            let cut = FrameSocket(try UnixSocket.connect(to: daemon.socket))
            send(Data([0, 0, 0, 9, 1, 0x4B]), on: cut.descriptor)
            open.append(cut)
            let slow = try daemon.greeted()
            send(Data([0x02, 0x00, 0x00, 0x00, 0x02, 0x01]), on: slow.descriptor)
            open.append(slow)
            let ended = try daemon.greeted()
            Glibc.shutdown(ended.descriptor, Int32(truncatingIfNeeded: SHUT_WR))
            open.append(ended)
        }
        try expectAnswer()
    }

    @Test func connectionsThatNeverGreetMakeRoom() throws {
        // Their time for a greeting is never over.
        var limits = ServerUnderTest.patient
        limits.connections = 8
        let small = try ServerUnderTest(limits)
        let greeted = try small.greeted()
        var silent: [FrameSocket] = []
        for _ in 0..<200 { silent.append(FrameSocket(try UnixSocket.connect(to: small.socket))) }
        try withDeadline("there is room beside connections without a greeting") {
            let vault = try small.connect()
            _ = try vault.status(as: vault.granted)
        }
        #expect(try status(on: greeted) != nil)
    }

    @Test func questionsThatNobodyAnswersMakeRoom() throws {
        // A question whose time is never over.
        var limits = ServerUnderTest.patient
        limits.connections = 8
        let small = try ServerUnderTest(limits, authenticator: EndlessAuthenticator())
        let owner = try small.connect()
        try owner.setPasscode(SecretBytes("right"), options: .cheapest, as: owner.granted)
        var asked: [FrameSocket] = []
        for _ in 0..<90 {
            let socket = try small.greeted()
            let frame = FrameBuffer()
            let operation = Authenticate(.devicePasscode, context: UUID(), options: AuthenticationOptions())
            frame.appendRequest(operation, claim: owner.granted, canAsk: true)
            try socket.send(frame, within: Patience.duration)
            #expect(try socket.receiveFrame(into: frame) == .question)
            asked.append(socket)
        }
        try withDeadline("there is room beside open questions") {
            _ = try small.connect().status(as: owner.granted)
        }
    }

    /// Asks who is at the client, for a day.
    private struct EndlessAuthenticator: Authenticator {
        func evaluate(_ request: AuthenticationRequest, verifier: any PasscodeVerifier) -> AuthenticationOutcome {
            let question = PasscodeQuestion(purpose: .presence, reason: "to go on")
            _ = RemotePrompt().ask(question, until: .now + .seconds(86_400))
            return .failed(.systemCancel)
        }

        func availability(verifier: any PasscodeVerifier) -> PresenceAvailability {
            PresenceAvailability(
                biometryKind: .none, biometryFailure: .biometryNotAvailable, biometryState: nil, isPasscodeSet: true,
                passcodeFailure: nil)
        }
    }

    @Test func clientsThatNeverRead() throws {
        var item = NewItem.password("large", "value", "")
        item.value = Data(repeating: 1, count: 4 << 20)
        _ = try vault.add(item, as: vault.granted)
        let frame = FrameBuffer()
        frame.appendRequest(
            CopyItems(.password("large"), includingValues: true), claim: vault.granted, canAsk: false)
        var deaf: [FrameSocket] = []
        for _ in 0..<16 {
            let socket = try daemon.greeted()
            for _ in 0..<4 { try socket.send(frame, within: Patience.duration) }
            deaf.append(socket)
        }
        try expectAnswer()
    }

    @Test func passwordsToStretchDoNotTakeTheMemoryOfAll() throws {
        let clients = try (0..<10).map { _ in try daemon.connect() }
        let threads = clients.enumerated().map { number, client in
            Thread {
                var item = NewItem.password("guarded", "\(number)", "treasure")
                item.accessControl = AccessControl(protection: .whenUnlocked, flags: .applicationPassword)
                do {
                    item.authentication.applicationPassword = try Array("password".utf8).withUnsafeBytes {
                        try SecretBytes(copying: $0)
                    }
                    _ = try client.add(item, as: client.granted)
                } catch {
                    Issue.record(error)
                }
            }
        }
        for thread in threads { thread.start() }
        try eventually("all items are stored") { threads.allSatisfy(\.isFinished) }
        let process = try #require(daemon.processNumber)
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }?.split(separator: " ").dropLast().last
        // Each takes 64 MiB.
        #expect(try #require(peak.flatMap { Int($0) }) < 5 * 64 << 10)
    }

    @Test func aFrameThatIsTooLongIsNotReadFor() throws {
        let socket = try daemon.greeted()
        send(Data([0xFF, 0xFF, 0xFF, 0xFF, 0x02]), on: socket.descriptor)
        #expect(throws: SocketError.closed) {
            try socket.receiveFrame(into: FrameBuffer(), limit: 1 << 10)
        }
        try expectAnswer()
    }
}
