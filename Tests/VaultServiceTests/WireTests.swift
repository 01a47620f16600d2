import Access
import Foundation
import KeychainModel
import TestSupport
import Testing
import VaultInterface
import VaultService

@Suite struct WireTests {
    /// Dictionaries have no order, so bytes are compared by their number and by what they decode to.
    @Test func requestsSurviveTheirEncoding() throws {
        var samples = WireSamples()
        for _ in 0..<TestScale.count(500, soak: 10_000) {
            let call = try samples.call()
            let encoded = WireBuffer()
            call.encode(to: encoded)
            var reader = WireReader(encoded)
            let decoded = try WireCall(from: &reader)
            #expect(description(of: decoded) == description(of: call), "seed \(samples.random.seed)")
        }
    }

    /// Everything about a call that it does not share with another; secrets by their bytes.
    private func description(of call: WireCall) -> [String] {
        var lines: [String] = []
        func describe(_ value: Any, _ place: String) {
            switch value {
            case let secret as SecretBytes:
                lines.append("\(place) \(secret.withUnsafeBytes { Array($0) })")
            case let values as [AttributeName: AttributeValue]:
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
        describe(call, "\(call.request.code)")
        return lines.sorted()
    }

    @Test func repliesSurviveTheirEncoding() throws {
        var samples = WireSamples()
        for _ in 0..<TestScale.count(500, soak: 10_000) {
            let reply = try samples.reply()
            let encoded = WireBuffer()
            reply.encode(to: encoded)
            var reader = WireReader(encoded)
            let decoded = try WireReply(from: &reader)
            #expect(decoded == reply, "seed \(samples.random.seed)")
        }
    }

    @Test func errorsSurviveTheirEncoding() throws {
        var samples = WireSamples()
        for _ in 0..<500 {
            let error = samples.error()
            let encoded = WireBuffer()
            encoded.append(error)
            var reader = WireReader(encoded)
            let decoded = try reader.vaultError()
            #expect(decoded == error, "seed \(samples.random.seed)")
        }
    }

    @Test func questionsAndAnswersSurviveTheirEncoding() throws {
        let question = PasscodeQuestion(purpose: .presence, reason: "to read a password", complaint: "wrong")
        let buffer = WireBuffer()
        buffer.append(question, seconds: 60)
        var reader = WireReader(buffer)
        let decoded = try reader.question()
        #expect(decoded.question == question && decoded.seconds == 60)

        buffer.removeAll()
        buffer.append(.passcode(try SecretBytes("hunter2")))
        reader = WireReader(buffer)
        guard case .passcode(let passcode) = try reader.answer() else {
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
            let encoded = WireBuffer()
            try samples.call().encode(to: encoded)
            _ = decode(samples.random.mutated(Data(encoded.bytes)))
        }
    }

    private func decode(_ bytes: Data) -> Bool {
        let buffer = WireBuffer(bytes)
        var reader = WireReader(buffer)
        let call = try? WireCall(from: &reader)
        call?.encode(to: WireBuffer())
        reader = WireReader(buffer)
        let reply = try? WireReply(from: &reader)
        reply?.encode(to: WireBuffer())
        reader = WireReader(buffer)
        _ = try? reader.vaultError()
        reader = WireReader(buffer)
        _ = try? reader.question()
        reader = WireReader(buffer)
        _ = try? reader.answer()
        return call != nil || reply != nil
    }

    @Test func aCountBeyondTheMessageTakesNoMemory() {
        // An add whose attributes are announced as the most there can be, and of which none comes.
        let buffer = WireBuffer()
        WireCall(.status, claim: Client(identifier: "a", accessGroups: []), canAsk: false).encode(to: buffer)
        var bytes = Data(buffer.bytes)
        bytes[0] = 1
        bytes.append(contentsOf: [1, 0, 0, 0x10, 0])
        var reader = WireReader(WireBuffer(bytes))
        #expect(throws: WireError.self) { try WireCall(from: &reader) }
    }
}
