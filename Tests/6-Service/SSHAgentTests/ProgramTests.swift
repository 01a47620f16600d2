import Crypto
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import SSHAgent

/// The agent with OpenSSH's programs as its clients.
struct ProgramTests {
    private let folder: TemporaryFolder
    private let keys = MemoryKeys()
    private let server: AgentServer

    init() throws {
        folder = try TemporaryFolder()
        server = try AgentServer(at: folder.path(of: "agent"), keys)
        let server = server
        Thread.detachNewThread { server.run() }
    }

    private func run(_ program: String, _ arguments: [String], input: String = "") throws -> (Int32, String) {
        let environment = ["SSH_AUTH_SOCK=\(folder.path(of: "agent"))", "PATH=/usr/bin:/bin:/usr/sbin"]
        let run = try ProgramStart([program] + arguments, environment: environment, folder: folder.path)
            .run(input: Data(input.utf8))
        return (run.status, run.text + run.errors)
    }

    @Test func listing() throws {
        defer { server.stop() }
        let (status, text) = try run("ssh-add", ["-L"])
        #expect(status == 0)
        let expected = try keys.keys().map { $0.key.line(comment: $0.comment) }.joined(separator: "\n")
        #expect(text == expected + "\n")
        let (_, fingerprints) = try run("ssh-add", ["-l"])
        for bits in ["256 SHA256:", "384 SHA256:", "521 SHA256:"] { #expect(fingerprints.contains(bits)) }
    }

    @Test(arguments: SSHPublicKey.Curve.allCases)
    func signingAFile(curve: SSHPublicKey.Curve) throws {
        defer { server.stop() }
        let key = try #require(try keys.keys().first { $0.comment == curve.rawValue }?.key)
        try Data((key.line(comment: "") + "\n").utf8).write(to: URL(filePath: folder.path(of: "key.pub")))
        try Data("contents".utf8).write(to: URL(filePath: folder.path(of: "file")))
        let (signed, signing) = try run("ssh-keygen", ["-Y", "sign", "-n", "git", "-f", "key.pub", "file"])
        #expect(signed == 0, "\(signing)")
        #expect(keys.purposes == [.data(namespace: "git")])
        try Data("me \(key.line(comment: ""))\n".utf8).write(to: URL(filePath: folder.path(of: "allowed")))
        let verify = ["-Y", "verify", "-n", "git", "-f", "allowed", "-I", "me", "-s", "file.sig"]
        #expect(try run("ssh-keygen", verify, input: "contents").0 == 0)
        #expect(try run("ssh-keygen", verify, input: "other contents").0 != 0)
    }

    @Test func addingAndRemovingIsRefused() throws {
        defer { server.stop() }
        #expect(try run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", "new"]).0 == 0)
        #expect(try run("ssh-add", ["new"]).0 != 0)
        #expect(try run("ssh-add", ["-D"]).0 != 0)
        #expect(try run("ssh-add", ["-L"]).0 == 0)
    }
}

/// Keys in memory, for tests of the protocol.
final class MemoryKeys: AgentKeys {
    private let p256 = P256.Signing.PrivateKey()
    private let p384 = P384.Signing.PrivateKey()
    private let p521 = P521.Signing.PrivateKey()
    private let ed25519 = Curve25519.Signing.PrivateKey()
    private let used = Mutex<[SignaturePurpose]>([])
    private let asked = Mutex<[BoundHost?]>([])

    var purposes: [SignaturePurpose] { used.withLock { $0 } }
    var askers: [BoundHost?] { asked.withLock { $0 } }

    func keys() throws(SSHAgentError) -> [(key: SSHPublicKey, comment: String)] {
        [
            (SSHPublicKey(.ellipticCurve(.p256, point: p256.publicKey.x963Representation)), "nistp256"),
            (SSHPublicKey(.ellipticCurve(.p384, point: p384.publicKey.x963Representation)), "nistp384"),
            (SSHPublicKey(.ellipticCurve(.p521, point: p521.publicKey.x963Representation)), "nistp521"),
            (SSHPublicKey(.ed25519(ed25519.publicKey.rawRepresentation)), "ed25519"),
        ]
    }

    func sign(
        _ data: Data, with key: SSHPublicKey, _ algorithm: SSHSignatureAlgorithm, for purpose: SignaturePurpose,
        from asker: BoundHost?
    ) throws(SSHAgentError) -> Data {
        used.withLock { $0.append(purpose) }
        asked.withLock { $0.append(asker) }
        do {
            switch algorithm {
            case .ecdsaP256: return try p256.signature(for: data).rawRepresentation
            case .ecdsaP384: return try p384.signature(for: data).rawRepresentation
            case .ecdsaP521: return try p521.signature(for: data).rawRepresentation
            case .ed25519: return try ed25519.signature(for: data)
            case .rsaSHA256, .rsaSHA512: throw SSHAgentError.unsupported
            }
        } catch {
            throw .refused(reason: "\(error)")
        }
    }
}
