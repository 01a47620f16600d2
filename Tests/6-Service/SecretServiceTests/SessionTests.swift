import Bytes
import Crypto
import Foundation
import SystemBus
import TestSupport
import Testing

@testable import SecretService

/// How a program and the service agree on a key, compared with Python's cryptography.
@Suite struct SecretSessionTests {
    private static let peer = Result {
        try PythonPeer(
            URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Peer/secret_service.py").path)
    }

    /// `Peer/secret_service.py vectors` makes the file.
    private struct Vector: Decodable {
        let what, own, ownPublic, publicKey, key, parameters, bytes, secret: String
    }

    private func bytes(_ text: String) throws -> Data { Data(try #require([UInt8](hexadecimal: text.utf8))) }

    @Test func knownAnswers() throws {
        let url = try #require(Bundle.module.url(forResource: "Fixtures/sessions", withExtension: "json"))
        let vectors = try JSONDecoder().decode([Vector].self, from: Data(contentsOf: url))
        #expect(vectors.count == 3)
        for vector in vectors {
            let (session, own) = try SecretSession.agree(with: bytes(vector.publicKey), own: bytes(vector.own))
            #expect(own == (try bytes(vector.ownPublic)), "\(vector.what)")
            guard case .encrypted(let key) = session else {
                Issue.record("\(vector.what): no key")
                continue
            }
            #expect(key.withUnsafeBytes { Data($0) } == (try bytes(vector.key)), "\(vector.what)")
            #expect(
                try session.open(bytes(vector.parameters), bytes(vector.bytes)) == bytes(vector.secret),
                "\(vector.what)")
        }
    }

    /// What the service encrypts with a new key, the program reads.
    @Test func othersReadWhatIsEncrypted() throws {
        let peer = try Self.peer.get()
        func ask(_ words: String...) throws -> String { try peer.ask(words).trimmingCharacters(in: .newlines) }
        for secret in ["", "swordfish", String(repeating: "s", count: 16), String(repeating: "long", count: 1_000)] {
            let number = [UInt8].random(count: 127).hexadecimal()
            let (session, own) = try SecretSession.agree(with: bytes(ask("public", number)))
            let closed = try session.close(Data(secret.utf8))
            #expect(closed.parameters.count == 16 && closed.bytes.count == secret.utf8.count / 16 * 16 + 16)
            let read = try ask(
                "open", number, own.hexadecimal(), closed.parameters.hexadecimal(), closed.bytes.hexadecimal())
            #expect(read == Data(secret.utf8).hexadecimal())
            #expect(try session.open(closed.parameters, closed.bytes) == Data(secret.utf8))
            #expect(try session.close(Data(secret.utf8)).parameters != closed.parameters)
        }
    }

    /// Keys with which the number that both agree on would be known to all.
    @Test func weakKeysAreRefused() throws {
        let prime = try bytes(
            "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD"
                + "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
                + "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF")
        func error(_ key: Data) -> String? {
            do throws(SecretServiceError) {
                _ = try SecretSession.agree(with: key)
                return nil
            } catch {
                return error.message
            }
        }
        func fromPrime(_ less: UInt8) -> Data { prime.dropLast() + [0xFF - less] }
        let between = "the public key is not between 2 and p - 2"
        for key in [
            Data(), Data([0]), Data([1]), Data(count: 128), fromPrime(1), prime, Data(repeating: 0xFF, count: 128),
        ] {
            #expect(error(key) == between, "\(key.hexadecimal())")
        }
        for key in [Data([2]), fromPrime(2), Data(count: 127) + [2]] { #expect(error(key) == nil) }
        #expect(error(Data(count: 128) + [2]) == "the public key is longer than 128 bytes")
        // A private key is as long as the prime.
        #expect(throws: SecretServiceError.self) { try SecretSession.agree(with: Data([2]), own: Data([1])) }
    }

    @Test func damagedSecretsAreRefused() throws {
        let session = try SecretSession.agree(with: Data([2])).0
        let (parameters, closed) = try session.close(Data("swordfish".utf8))
        for (vector, data) in [
            (Data(), closed), (parameters + [0], closed), (parameters, Data()), (parameters, closed.dropLast()),
            // Another last byte of the padding.
            (parameters.dropLast() + [parameters[parameters.count - 1] ^ 0x80], closed),
        ] {
            #expect(throws: SecretServiceError.self) { try session.open(vector, data) }
        }
        #expect(try SecretSession.plain.open(Data([1]), Data([2])) == Data([2]))
    }

    /// A program may have many sessions, and loses the one that it did not use for the longest time.
    @Test func oneSessionMoreThanTheMost() throws {
        var sessions = SecretSessions()
        func path(_ number: Int) -> String { SecretPath.session("s\(number)").text }
        for number in 0..<256 { sessions.add(.plain, "s\(number)") }
        _ = try sessions.session(at: path(0))
        sessions.add(.plain, "s256")
        for number in [0, 2, 255, 256] { _ = try sessions.session(at: path(number)) }
        #expect(throws: SecretServiceError.self) { try sessions.session(at: path(1)) }
        #expect(sessions.remove(.session("s2")) && !sessions.remove(.session("s2")) && !sessions.remove(.service))
        // One that was closed leaves its place.
        sessions.add(.plain, "s257")
        for number in [0, 3, 257] { _ = try sessions.session(at: path(number)) }
    }
}
