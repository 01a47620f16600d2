import Foundation
import TestSupport
import Testing

@testable import SSHAgent

/// The agent's messages as bytes.
struct MessageTests {
    private let keys = MemoryKeys()

    private func request(_ type: UInt8, _ strings: [Data] = [], flags: UInt32? = nil) -> Data {
        var writer = SSHWriter()
        writer.append(byte: type)
        for string in strings { writer.append(string: string) }
        if let flags { writer.append(uint32: flags) }
        return writer.message
    }

    /// What a client signs to log in (RFC 4252, 7).
    private func loginData(_ user: String, session: Data, key: Data, method: String = "publickey") -> Data {
        var writer = SSHWriter()
        writer.append(string: session)
        writer.append(byte: 50)
        for text in [user, "ssh-connection", method] { writer.append(string: text.utf8) }
        writer.append(byte: 1)
        writer.append(string: "ecdsa-sha2-nistp256".utf8)
        writer.append(string: key)
        return writer.message
    }

    @Test func whatIsNotKnownFails() throws {
        var connection = AgentConnection(keys)
        let blob = try #require(try keys.keys().first).key.blob
        for message in [
            Data(), Data([0]), Data([11, 0]), Data([13]), request(13, [blob, Data()]),
            request(13, [Data("x".utf8), Data()], flags: 0), request(13, [blob, Data()], flags: 0) + [0],
            request(17, [blob]), request(27, [Data("other@example.com".utf8)]), Data([19]), Data([255]),
        ] {
            #expect(connection.answer(message) == Data([5]))
        }
        #expect(keys.purposes.isEmpty)
    }

    @Test func purposes() throws {
        var connection = AgentConnection(keys)
        let blob = try #require(try keys.keys().first).key.blob
        let (session, host) = (Data(repeating: 7, count: 32), HostUnderTest())
        #expect(connection.answer(try host.binding(session, isForwarded: false)) == Data([6]))
        for data in [
            loginData("alice", session: session, key: blob), loginData("bob", session: Data([1]), key: blob),
            Data("anything".utf8),
            loginData("eve", session: session, key: blob, method: "password"), Data("SSHSIG".utf8),
        ] {
            #expect(connection.answer(request(13, [blob, data], flags: 0)).first == 14)
        }
        let purposes = keys.purposes
        guard case .login("alice", let bound?) = purposes[0] else {
            Issue.record("\(purposes[0])")
            return
        }
        #expect(bound.key == host.blob)
        #expect(purposes[1] == .login(user: "bob", host: nil))
        #expect(purposes[2...].allSatisfy { $0 == .other })
    }

    @Test func onlySoManySessions() throws {
        var connection = AgentConnection(keys)
        let host = HostUnderTest()
        for number in 0..<UInt8(16) {
            #expect(connection.answer(try host.binding(Data([number]), isForwarded: true)) == Data([6]))
        }
        #expect(connection.answer(try host.binding(Data([16]), isForwarded: true)) == Data([5]))
        // The same again is nothing new.
        #expect(connection.answer(try host.binding(Data([3]), isForwarded: true)) == Data([6]))
    }

    @Test func numbersWithoutLeadingZeros() {
        for (number, encoded) in [
            (Data(), [0, 0, 0, 0]), (Data([0, 0]), [0, 0, 0, 0]), (Data([0, 1]), [0, 0, 0, 1, 1]),
            (Data([0x80]), [0, 0, 0, 2, 0, 0x80]),
        ] as [(Data, [UInt8])] {
            var writer = SSHWriter()
            writer.append(integer: number)
            #expect(Array(writer.message) == encoded)
        }
    }

    /// Comments come from items' labels.
    @Test func aLineStaysOne() throws {
        let key = try #require(try keys.keys().first).key
        #expect(!key.line(comment: "a\nssh-rsa AAAA evil\r\u{2028}").contains { $0.isNewline })
    }
}

/// Whatever the bytes, there is an answer.
struct SoakMessageTests {
    @Test func mutatedMessages() throws {
        let keys = MemoryKeys()
        let blob = try #require(try keys.keys().first).key.blob
        var sign = SSHWriter()
        sign.append(byte: 13)
        sign.append(string: blob)
        sign.append(string: Data("SSHSIG\0\0\0\u{3}git".utf8))
        sign.append(uint32: 0)
        var bind = SSHWriter()
        bind.append(byte: 27)
        for part in ["session-bind@openssh.com", "key", "session", "signature"] { bind.append(string: part.utf8) }
        bind.append(byte: 1)
        let proven = try HostUnderTest().binding(Data("session".utf8), isForwarded: true)
        var random = SeededGenerator()
        var connection = AgentConnection(keys)
        for round in 0..<TestScale.count(3_000, soak: 1_000_000) {
            let message =
                round % 3 == 0
                ? random.bytes(random.int(below: 80))
                : random.mutated([sign.message, bind.message, proven][round / 3 % 3])
            let answer = connection.answer(message)
            #expect([5, 6, 12, 14].contains(answer.first), "seed \(random.seed), round \(round)")
        }
    }
}
