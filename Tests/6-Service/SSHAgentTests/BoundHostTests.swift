import Crypto
import Foundation
import TestSupport
import Testing

@testable import SSHAgent

/// A host that signs sessions with a key on P-256.
struct HostUnderTest {
    private let key = P256.Signing.PrivateKey()

    var blob: Data { SSHPublicKey(.ellipticCurve(.p256, point: key.publicKey.x963Representation)).blob }

    /// What a client says of a session (OpenSSH, PROTOCOL.agent, "session-bind@openssh.com").
    ///
    /// - Parameter name: The key that is named; nil for the one that signs.
    func binding(_ session: Data, isForwarded: Bool, naming name: Data? = nil) throws -> Data {
        let signature = try key.signature(for: session).rawRepresentation
        return Self.binding(
            name ?? blob, session, try SSHSignatureAlgorithm.ecdsaP256.encoded(signature), isForwarded: isForwarded)
    }

    static func binding(_ key: Data, _ session: Data, _ signature: Data, isForwarded: Bool) -> Data {
        var writer = SSHWriter()
        writer.append(byte: 27)
        for part in [Data("session-bind@openssh.com".utf8), key, session, signature] { writer.append(string: part) }
        writer.append(byte: isForwarded ? 1 : 0)
        return writer.message
    }
}

/// Which host a person is told of: what a host that was given the use of the agent may say, and what not.
struct BoundHostTests {
    private let keys = MemoryKeys()
    private let near = HostUnderTest()
    private let far = HostUnderTest()
    private let third = HostUnderTest()
    private let nearSession = Data(repeating: 1, count: 32)
    private let farSession = Data(repeating: 2, count: 32)

    private func login(_ session: Data, host: Data? = nil) throws -> Data {
        let own = try #require(try keys.keys().first).key.blob
        var data = SSHWriter()
        data.append(string: session)
        data.append(byte: 50)
        let method = host == nil ? "publickey" : "publickey-hostbound-v00@openssh.com"
        for text in ["alice", "ssh-connection", method] { data.append(string: text.utf8) }
        data.append(byte: 1)
        data.append(string: "ecdsa-sha2-nistp256".utf8)
        data.append(string: own)
        if let host { data.append(string: host) }
        var request = SSHWriter()
        request.append(byte: 13)
        request.append(string: own)
        request.append(string: data.message)
        request.append(uint32: 0)
        return request.message
    }

    /// The host that is named for a login, after `bindings` of which `refused` are not taken.
    private func named(
        _ bindings: [Data], refused: Set<Int> = [], _ login: Data
    ) throws -> (host: Data?, asker: Data?) {
        var connection = AgentConnection(keys)
        for (index, binding) in bindings.enumerated() {
            #expect(connection.answer(binding) == Data([refused.contains(index) ? 5 : 6]), "\(index)")
        }
        #expect(connection.answer(login).first == 14)
        guard case .login("alice", let host)? = keys.purposes.last else {
            Issue.record("\(keys.purposes)")
            return (nil, nil)
        }
        return (host?.key, keys.askers.last.flatMap { $0?.key })
    }

    @Test func aLoginFromHere() throws {
        let found = try named([near.binding(nearSession, isForwarded: false)], login(nearSession))
        #expect(found.host == near.blob)
        #expect(found.asker == nil)
    }

    @Test func aLoginFromAHostIsSaidToBeThat() throws {
        let bindings = try [near.binding(nearSession, isForwarded: true), far.binding(farSession, isForwarded: false)]
        let found = try named(bindings, login(farSession, host: far.blob))
        #expect(found.host == far.blob)
        #expect(found.asker == near.blob)
    }

    /// A signature is the proof that the session is the host's.
    @Test func aHostIsNotNamedWithoutItsSignature() throws {
        let forged = try near.binding(farSession, isForwarded: false, naming: far.blob)
        let bindings = [try near.binding(nearSession, isForwarded: true), forged]
        let found = try named(bindings, refused: [1], login(farSession))
        #expect(found.host == nil)
        #expect(found.asker == near.blob)
        // After one without a proof nobody is named.
        let late = [forged, try third.binding(farSession, isForwarded: false)]
        #expect(try named(late, refused: [0, 1], login(farSession)).host == nil)
    }

    /// A host signs another's session as its own, so that the login looks like one to itself.
    @Test func aHostDoesNotTakeAnothersSession() throws {
        let bindings = try [near.binding(nearSession, isForwarded: true), near.binding(farSession, isForwarded: false)]
        #expect(try named(bindings, login(farSession)).host == nil)
        #expect(try named(bindings, login(farSession, host: far.blob)).host == nil)
        let taken = [bindings[0], try near.binding(nearSession, isForwarded: false)]
        #expect(try named(taken, refused: [1], login(farSession)).host == nil)
    }

    @Test func nothingIsPassedOnAfterALogin() throws {
        let bindings = try [near.binding(nearSession, isForwarded: false), far.binding(farSession, isForwarded: true)]
        #expect(try named(bindings, refused: [1], login(farSession)).host == nil)
    }

    /// Every kind of key that a host of OpenSSH has, and certificates of them, with signatures of OpenSSH's own.
    @Test(arguments: ["ed25519", "ecdsa -b 256", "ecdsa -b 384", "ecdsa -b 521", "rsa -b 2048"])
    func keysOfHosts(kind: String) throws {
        let folder = try TemporaryFolder()
        func run(_ script: String) throws {
            let start = ProgramStart(
                ["/bin/sh", "-c", script], environment: ["PATH=/usr/bin:/bin"], folder: folder.path)
            let run = try start.run(input: Data())
            #expect(run.status == 0, "\(run.errors)")
        }
        try run(
            """
            set -e
            ssh-keygen -q -t \(kind) -N '' -f host
            ssh-keygen -q -t ed25519 -N '' -f authority
            ssh-keygen -q -s authority -I host -h -n host host.pub
            printf session | ssh-keygen -q -Y sign -n file -f host > signature
            """)
        func fields(_ name: String) throws -> Data {
            let text = try String(contentsOfFile: folder.path(of: name), encoding: .utf8)
            return try #require(Data(base64Encoded: String(text.split(separator: " ")[1])))
        }
        // What is signed there is a structure that has the digest of the message (OpenSSH, PROTOCOL.sshsig).
        let armoured = try String(contentsOfFile: folder.path(of: "signature"), encoding: .utf8)
        let lines = armoured.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        var reader = SSHReader(try #require(Data(base64Encoded: lines.joined())).dropFirst(6 + 4))
        _ = try reader.string()
        let (namespace, reserved, digest, signature) = try (
            reader.string(), reader.string(), reader.string(), reader.string()
        )
        #expect(digest == Data("sha512".utf8))
        var signed = SSHWriter()
        for part in [namespace, reserved, digest, Data(SHA512.hash(data: Data("session".utf8)))] {
            signed.append(string: part)
        }
        let message = Data("SSHSIG".utf8) + signed.message
        for blob in [try fields("host.pub"), try fields("host-cert.pub")] {
            let key = try HostKey(blob: blob)
            #expect(key.isValid(signature, of: message))
            #expect(!key.isValid(signature, of: message + [0]))
            #expect(!key.isValid(signature + [0], of: message))
        }
        let other = try HostKey(blob: HostUnderTest().blob)
        #expect(!other.isValid(signature, of: message))
    }
}
