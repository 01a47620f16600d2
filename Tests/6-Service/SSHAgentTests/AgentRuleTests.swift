import Foundation
import TestSupport
import Testing

@testable import SSHAgent

/// What a rule of an agent lets through.
struct AgentRuleTests {
    private let session = Data(repeating: 1, count: 32)

    private func bound(_ host: HostUnderTest, isForwarded: Bool = false) throws -> BoundHost {
        var reader = SSHReader(Data(try host.binding(session, isForwarded: isForwarded).dropFirst()))
        _ = try reader.string()
        return try BoundHost(from: &reader)
    }

    @Test func logins() throws {
        let (near, far) = (HostUnderTest(), HostUnderTest())
        let host = try bound(near)
        let rule = try AgentRule("login \(host.fingerprint),elsewhere as git,alice with deploy")
        #expect(rule.hosts == [host.fingerprint, "elsewhere"])
        #expect(rule.allows(.login(user: "git", host: host), with: "deploy", from: nil))
        #expect(!rule.allows(.login(user: "git", host: host), with: "other", from: nil))
        #expect(!rule.allows(.login(user: "root", host: host), with: "deploy", from: nil))
        #expect(!rule.allows(.login(user: "git", host: nil), with: "deploy", from: nil))
        #expect(!rule.allows(.login(user: "git", host: try bound(far)), with: "deploy", from: nil))
        #expect(!rule.allows(.login(user: "git", host: try bound(near, isForwarded: true)), with: "deploy", from: nil))
        #expect(!rule.allows(.login(user: "git", host: host), with: "deploy", from: host))
        for purpose in [SignaturePurpose.data(namespace: "git"), .other] {
            #expect(!rule.allows(purpose, with: "deploy", from: nil))
        }
    }

    @Test func signatures() throws {
        let rule = try AgentRule("sign git,file")
        #expect(rule.allows(.data(namespace: "file"), with: "any", from: nil))
        #expect(!rule.allows(.data(namespace: "ssh"), with: "any", from: nil))
        let host = try bound(HostUnderTest())
        #expect(!rule.allows(.data(namespace: "git"), with: "any", from: host))
        #expect(!rule.allows(.login(user: "git", host: host), with: "any", from: nil))
        #expect(!rule.allows(.other, with: "any", from: nil))
    }

    @Test(arguments: [
        "", "git", "login", "sign", "login ,", "sign git as root", "login a as", "login a with", "login a as b as c",
        "sign git with a with b", "login a sign git",
    ])
    func mistakes(_ text: String) {
        #expect(throws: AgentRule.Problem.self) { try AgentRule(text) }
    }

    /// What is signed is one of the two messages as a whole, for the key that signs: nothing else is taken for it.
    @Test func onlyWholeMessagesAreRecognised() throws {
        let (near, far) = (HostUnderTest(), HostUnderTest())
        let host = try bound(near)
        let key = Data("key".utf8)
        func login(
            _ method: String, key: Data, hostKey: Data? = nil, signs: UInt8 = 1, rest: Data = Data()
        ) -> SignaturePurpose {
            var writer = SSHWriter()
            writer.append(string: session)
            writer.append(byte: 50)
            for text in ["git", "ssh-connection", method] { writer.append(string: text.utf8) }
            writer.append(byte: signs)
            writer.append(string: "ssh-ed25519".utf8)
            writer.append(string: key)
            if let hostKey { writer.append(string: hostKey) }
            return SignaturePurpose(writer.message + rest, sessions: [host], key: Data("key".utf8))
        }
        let hostbound = "publickey-hostbound-v00@openssh.com"
        #expect(login("publickey", key: key) == .login(user: "git", host: host))
        #expect(login(hostbound, key: key, hostKey: near.blob) == .login(user: "git", host: host))
        #expect(login(hostbound, key: key, hostKey: far.blob) == .login(user: "git", host: nil))
        for other in [
            login("publickey", key: Data("other".utf8)), login("publickey", key: key, rest: Data([0])),
            login("publickey", key: key, signs: 0), login("publickeyXYZ", key: key), login(hostbound, key: key),
            login(hostbound, key: key, hostKey: near.blob, rest: Data([0])),
        ] { #expect(other == .other) }

        func file(_ namespace: String, _ hash: String, _ count: Int, rest: Data = Data()) -> SignaturePurpose {
            var writer = SSHWriter()
            for text in [namespace, "", hash] { writer.append(string: text.utf8) }
            writer.append(string: Data(count: count))
            return SignaturePurpose(Data("SSHSIG".utf8) + writer.message + rest, sessions: [], key: key)
        }
        #expect(file("git", "sha512", 64) == .data(namespace: "git"))
        for other in [
            file("git", "sha512", 32), file("git", "md5", 16), file("", "sha256", 32),
            file("git", "sha256", 32, rest: key),
        ] { #expect(other == .other) }
    }

    /// Texts that Swift takes for equal are two names.
    @Test func namesAreBytes() throws {
        let host = try bound(HostUnderTest())
        let rule = try AgentRule("login \(host.fingerprint) as Kim")
        #expect(rule.allows(.login(user: "Kim", host: host), with: "a", from: nil))
        #expect(!rule.allows(.login(user: "\u{212A}im", host: host), with: "a", from: nil))
    }
}
