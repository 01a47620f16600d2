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
}
