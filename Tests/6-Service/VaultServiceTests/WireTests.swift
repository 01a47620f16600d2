import Access
import Bytes
import Foundation
import Frames
import KeychainModel
import TestSupport
import Testing
import VaultInterface
import VaultService

@Suite struct WireTests {
    /// Dictionaries have no order, so operations are compared by what they hold.
    @Test func requestsSurviveTheirEncoding() throws {
        var samples = WireSamples()
        for count in 0..<TestScale.count(500, soak: 10_000) {
            let code = OperationCode.allCases[count % OperationCode.allCases.count]
            let request = try samples.request(for: code)
            let encoded = FrameBuffer()
            encoded.appendRequest(request.operation, claim: request.claim, canAsk: request.canAsk)
            var reader = FrameReader(encoded, from: 5)
            let header = try RequestHeader(from: &reader)
            #expect(
                header
                    == RequestHeader(
                        .operation(code),
                        claim: Client(
                            identifier: request.claim.identifier, accessGroups: request.claim.accessGroups),
                        canAsk: request.canAsk), "seed \(samples.random.seed)")
            let decoded = try code.operation.init(from: &reader)
            #expect(throws: Never.self) { try reader.finish() }
            #expect(
                description(of: decoded) == description(of: request.operation), "seed \(samples.random.seed)")
        }
    }

    @Test(arguments: OperationCode.allCases) func eachNumberStandsForOneOperation(_ code: OperationCode) {
        #expect(OperationCode(rawValue: code.rawValue)?.operation == code.operation)
        #expect(OperationCode.allCases.filter { $0.operation.name == code.operation.name } == [code])
        #expect(VaultSubscription(rawValue: code.rawValue) == nil)
    }

    /// Everything that an operation holds; secrets by their bytes.
    private func description(of operation: any VaultOperation) -> [String] {
        var lines: [String] = []
        func describe(_ value: Any, _ place: String) {
            switch value {
            case let secret as SecretBytes:
                lines.append("\(place) \(secret.withUnsafeBytes { Array($0) })")
            case let values as ItemAttributes:
                lines += values.map { "\(place).\($0.key) \($0.value)" }
            case let data as Data:
                lines.append("\(place) \(Array(data))")
            default:
                let mirror = Mirror(reflecting: value)
                if mirror.children.isEmpty || value is UUID || value is Date { lines.append("\(place) \(value)") }
                if value is UUID || value is Date { return }
                for child in mirror.children { describe(child.value, place + "." + (child.label ?? "")) }
            }
        }
        describe(operation, "\(type(of: operation))")
        return lines.sorted()
    }

    @Test func repliesSurviveTheirEncoding() throws {
        func expectSurvival<Reply: WireValue & Equatable>(_ reply: Reply, _ seed: UInt64) throws {
            let encoded = FrameBuffer()
            reply.encode(to: encoded)
            var reader = FrameReader(encoded)
            #expect(try Reply(from: &reader) == reply, "seed \(seed)")
            #expect(throws: Never.self) { try reader.finish() }
        }
        var samples = WireSamples()
        for _ in 0..<TestScale.count(50, soak: 1_000) {
            for reply in try samples.replies() { try expectSurvival(reply, samples.random.seed) }
            let (made, opened) = try samples.secretReplies()
            let encoded = FrameBuffer()
            made.encode(to: encoded)
            opened.encode(to: encoded)
            var reader = FrameReader(encoded)
            let decoded = try FileKey(from: &reader)
            #expect(decoded.key == made.key && decoded.wrapped == made.wrapped)
            #expect(try OpenFileKey.Reply(from: &reader).key == opened.key)
            encoded.removeAll()
            MakeRecoveryKey.Reply(text: opened.key).encode(to: encoded)
            reader = FrameReader(encoded)
            #expect(try MakeRecoveryKey.Reply(from: &reader).text == opened.key)
        }
    }

    @Test func keysOfFilesOfAnotherLengthAreRefused() throws {
        let encoded = FrameBuffer()
        OpenFileKey.Reply(key: try SecretBytes("short")).encode(to: encoded)
        var reader = FrameReader(encoded)
        #expect(throws: FrameError.self) { try OpenFileKey.Reply(from: &reader) }
        reader = FrameReader(encoded)
        #expect(throws: FrameError.self) { try FileKey(from: &reader) }
    }

    @Test func errorsSurviveTheirEncoding() throws {
        var samples = WireSamples()
        for _ in 0..<500 {
            let error = samples.error()
            let encoded = FrameBuffer()
            encoded.write(error)
            var reader = FrameReader(encoded)
            let decoded = try reader.read(VaultError.self)
            #expect(decoded == error, "seed \(samples.random.seed)")
        }
    }

    @Test func questionsAndAnswersSurviveTheirEncoding() throws {
        let question = PasscodeQuestion(purpose: .presence, reason: "to read a password", complaint: "wrong")
        let buffer = FrameBuffer()
        buffer.write(SentQuestion(question, seconds: 60))
        var reader = FrameReader(buffer)
        let decoded = try reader.read(SentQuestion.self)
        #expect(decoded.question == question && decoded.seconds == 60)

        buffer.removeAll()
        buffer.write(PasscodeAnswer.passcode(try SecretBytes("hunter2")))
        reader = FrameReader(buffer)
        guard case .passcode(let passcode) = try reader.read(PasscodeAnswer.self) else {
            Issue.record("not a passcode")
            return
        }
        #expect(passcode.withUnsafeBytes { Array($0) } == Array("hunter2".utf8))
    }

    /// What is malformed is an error, and what is not decodes to something that encodes again.
    @Test func noBytesBringTheDecoderDown() throws {
        var samples = WireSamples()
        var refused = 0
        for _ in 0..<TestScale.count(2_000, soak: 10_000) {
            let bytes = samples.random.bytes(samples.random.int(below: 300))
            refused += decode(bytes) ? 0 : 1
        }
        #expect(refused > 0, "seed \(samples.random.seed)")
        for _ in 0..<TestScale.count(2_000, soak: 10_000) {
            let request = try samples.request()
            let encoded = FrameBuffer()
            encoded.appendRequest(request.operation, claim: request.claim, canAsk: request.canAsk)
            _ = decode(samples.random.mutated(Data(encoded.bytes.dropFirst(5))))
        }
    }

    private func decode(_ bytes: Data) -> Bool {
        let buffer = FrameBuffer(bytes)
        var isRequest = false
        var reader = FrameReader(buffer)
        if let header = try? RequestHeader(from: &reader), case .operation(let code) = header.subject,
            let operation = try? code.operation.init(from: &reader)
        {
            isRequest = true
            operation.encode(to: FrameBuffer())
        }
        for code in OperationCode.allCases { decodeAnswer(to: code.operation, buffer) }
        reader = FrameReader(buffer)
        _ = try? reader.read(VaultError.self)
        reader = FrameReader(buffer)
        _ = try? reader.read(SentQuestion.self)
        reader = FrameReader(buffer)
        _ = try? reader.read(PasscodeAnswer.self)
        return isRequest
    }

    private func decodeAnswer<Operation: VaultOperation>(to operation: Operation.Type, _ buffer: FrameBuffer) {
        var reader = FrameReader(buffer)
        (try? Operation.Reply(from: &reader))?.encode(to: FrameBuffer())
        reader = FrameReader(buffer)
        (try? Operation.Part(from: &reader))?.encode(to: FrameBuffer())
    }

    @Test func aCountBeyondTheMessageTakesNoMemory() {
        // An add whose attributes are announced as the most there can be, and of which none comes.
        let buffer = FrameBuffer()
        buffer.append(ItemClass.genericPassword.storedCode)
        buffer.append(UInt32(truncatingIfNeeded: WireLimits.attributes))
        var reader = FrameReader(buffer)
        #expect(throws: FrameError.self) { try AddItem(from: &reader) }
    }
}
