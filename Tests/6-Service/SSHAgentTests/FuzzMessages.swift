import Crypto
import Foundation
import TestSupport
import Testing

@testable import SSHAgent

/// Keys that sign everything alike, so that the time goes to the protocol.
private struct IdleKeys: AgentKeys {
    let key: SSHPublicKey
    let rsa = SSHPublicKey(.rsa(exponent: Data([1, 0, 1]), modulus: Data(repeating: 0xAB, count: 256)))

    func keys() throws(SSHAgentError) -> [(key: SSHPublicKey, comment: String)] {
        [(key, "a comment"), (rsa, "another")]
    }

    func sign(
        _ data: Data, with key: SSHPublicKey, _ algorithm: SSHSignatureAlgorithm, for purpose: SignaturePurpose,
        from asker: BoundHost?
    ) throws(SSHAgentError) -> Data {
        _ = "\(purpose)"
        switch algorithm {
        case .ecdsaP256, .ed25519: return Data(repeating: 7, count: 64)
        case .ecdsaP384: return Data(repeating: 7, count: 96)
        case .ecdsaP521: return Data(repeating: 7, count: 132)
        case .rsaSHA256, .rsaSHA512: return Data(repeating: 7, count: 256)
        }
    }
}

/// Whatever the bytes, there is an answer of the protocol.
struct FuzzMessages {
    private let keys: IdleKeys

    init() {
        keys = IdleKeys(
            key: SSHPublicKey(.ellipticCurve(.p256, point: P256.Signing.PrivateKey().publicKey.x963Representation)))
    }

    private func message(_ type: UInt8, _ write: (inout SSHWriter) -> Void) -> Data {
        var writer = SSHWriter()
        writer.append(byte: type)
        write(&writer)
        return writer.message
    }

    private func login(method: String, _ extra: [Data]) -> Data {
        var writer = SSHWriter()
        writer.append(string: Data(repeating: 7, count: 32))
        writer.append(byte: 50)
        for text in ["alice", "ssh-connection", method] { writer.append(string: text.utf8) }
        writer.append(byte: 1)
        for part in extra { writer.append(string: part) }
        return writer.message
    }

    private func samples() throws -> [Data] {
        var signed = [Data("SSHSIG\0\0\0\u{3}git\0\0\0\0\0\0\0\u{6}sha512\0\0\0\u{1}x".utf8), Data("anything".utf8)]
        for blob in [keys.key.blob, keys.rsa.blob] {
            signed.append(login(method: "publickey", [Data("ecdsa-sha2-nistp256".utf8), blob]))
            signed.append(
                login(
                    method: "publickey-hostbound-v00@openssh.com",
                    [Data("rsa-sha2-256".utf8), blob, Data("host key".utf8)]))
        }
        var samples = [Data([11]), message(27) { $0.append(string: "query".utf8) }]
        for (blob, flags) in [(keys.key.blob, 0), (keys.rsa.blob, 2), (keys.rsa.blob, 4)] as [(Data, UInt32)] {
            for data in signed {
                samples.append(
                    message(13) {
                        $0.append(string: blob)
                        $0.append(string: data)
                        $0.append(uint32: flags)
                    })
            }
        }
        samples.append(try HostUnderTest().binding(Data(repeating: 7, count: 32), isForwarded: true))
        return samples
    }

    @Test func fuzzAgent() throws {
        let samples = try samples()
        let bind = samples[samples.count - 1]
        var run = FuzzRun("ssh-agent", samples: samples, plain: 5_000, soak: 1_000_000)
        let report = try run.run { input in
            // With a host that is bound, and with none.
            for before in [bind, nil] {
                var connection = AgentConnection(keys)
                if let before { _ = connection.answer(before) }
                let answer = connection.answer(input)
                guard [5, 6, 12, 14].contains(answer.first) else {
                    throw FuzzFinding("an answer of type \(answer.prefix(1))")
                }
                guard answer == Data([5]) || answer.first != 5 else { throw FuzzFinding("a failure with more to it") }
                if before == nil { return answer.first != 5 }
            }
            return false
        }
        #expect(report.accepted >= min(report.tried, samples.count - 1))
    }
}
