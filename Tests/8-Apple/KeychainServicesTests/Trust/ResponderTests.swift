import Foundation
import KeychainServices
import OnlineChecks
import TestSupport
import Testing

/// Responders that are asked: OpenSSL's program on the loopback interface, and servers that answer wrongly.
@Suite struct ResponderTests {
    private let authority: CertificateAuthority
    private let useless = [errSecSuccess, errSecIncompleteCertRevocationCheck]

    init() throws { authority = try CertificateAuthority() }

    private func makeLeaf(_ responders: String...) throws {
        try authority.make("leaf", by: "root", extensions: CertificateAuthority.server(responders: responders))
    }

    @Test func aResponderIsAsked() throws {
        try authority.list(good: ["leaf"])
        let good = try authority.startResponder()
        try makeLeaf(good.address)
        #expect(try authority.statuses() == [errSecSuccess, errSecSuccess])
        try authority.list(revoked: ["leaf"])
        let revoked = try authority.startResponder()
        try makeLeaf(revoked.address)
        #expect(try authority.statuses() == [errSecCertificateRevoked, errSecCertificateRevoked])
        try authority.list()
        let unknown = try authority.startResponder()
        try makeLeaf(unknown.address)
        #expect(try authority.statuses() == useless)
        #expect(try authority.reason().contains("(the responder does not know the certificate)"))
        unknown.end()
        #expect(try authority.statuses() == useless)
    }

    @Test func aDelegatedResponderIsAsked() throws {
        try authority.make("responder", by: "root", extensions: CertificateAuthority.responder)
        try authority.list(revoked: ["leaf"])
        let responder = try authority.startResponder(signer: "responder")
        try makeLeaf(responder.address)
        #expect(try authority.statuses() == [errSecCertificateRevoked, errSecCertificateRevoked])
    }

    @Test func aWrongSignerSaysNothing() throws {
        try authority.make("stranger", extensions: CertificateAuthority.authority, subject: "/CN=root")
        try authority.list(revoked: ["leaf"])
        let responder = try authority.startResponder(signer: "stranger")
        try makeLeaf(responder.address)
        #expect(try authority.statuses() == useless)
        #expect(try authority.reason().contains("(the responder's answer has no valid signature)"))
    }

    @Test func authoritiesAreAskedAbout() throws {
        for isRevoked in [false, true] {
            try authority.list(good: isRevoked ? [] : ["intermediate"], revoked: isRevoked ? ["intermediate"] : [])
            let responder = try authority.startResponder()
            try authority.make(
                "intermediate", by: "root",
                extensions: CertificateAuthority.authority + ["authorityInfoAccess=OCSP;URI:\(responder.address)"])
            try authority.make("leaf", by: "intermediate", extensions: CertificateAuthority.server)
            // An answer is required about the leaf alone.
            #expect(
                try authority.statuses(["leaf", "intermediate"])
                    == (isRevoked ? [errSecCertificateRevoked, errSecCertificateRevoked] : useless))
        }
    }

    @Test func whoIsNotToBeAskedAboutIsNot() throws {
        let server = try LoopbackServer { _ in .nothing }
        try authority.make(
            "leaf", by: "root",
            extensions: CertificateAuthority.server(responders: [server.address]) + ["noCheck=ignored"])
        #expect(try authority.statuses() == useless)
        #expect(server.requests.isEmpty)
    }

    /// The requests that an evaluation sends.
    private func requests(
        _ server: LoopbackServer, _ policies: [SecPolicy], allowed: Bool? = nil
    ) throws -> [LoopbackServer.Request] {
        let before = server.requests.count
        let trust = try authority.trust(["leaf"], policies)
        if let allowed { #expect(SecTrustSetNetworkFetchAllowed(trust, allowed) == errSecSuccess) }
        _ = status(of: trust)
        return Array(server.requests.dropFirst(before))
    }

    @Test func onlyWhoWantsRequestsSendsThem() throws {
        let server = try LoopbackServer { _ in .nothing }
        try makeLeaf(server.address + "/ocsp")
        let tls = [SecPolicyCreateSSL(true, "example.com")]
        #expect(try requests(server, tls).isEmpty)
        // Allowing to fetch certificates is no wish to ask about revocation.
        #expect(try requests(server, tls, allowed: true).isEmpty)
        let asked = try requests(server, OnlinePolicies.soft)
        #expect(asked.map(\.method) == ["POST"])
        #expect(asked.map(\.path) == ["/ocsp"])
        #expect(try requests(server, OnlinePolicies.soft, allowed: true).count == 1)
        #expect(try requests(server, OnlinePolicies.soft, allowed: false).isEmpty)
        let disabled = OnlinePolicies.policies(kSecRevocationOCSPMethod | kSecRevocationNetworkAccessDisabled)
        #expect(try requests(server, disabled).isEmpty)
        #expect(try requests(server, disabled, allowed: true).isEmpty)
        #expect(try requests(server, OnlinePolicies.lists).isEmpty)
        #expect(
            try requests(server, [SecPolicyCreateRevocation(kSecRevocationOCSPMethod)].compactMap { $0 }).count == 1)
        // A path that leads nowhere is asked about nowhere.
        let stranger = try authority.trust(["leaf"], OnlinePolicies.soft)
        #expect(SecTrustSetAnchorCertificates(stranger, NSArray()) == errSecSuccess)
        let before = server.requests.count
        #expect(status(of: stranger) == errSecCreateChainFailed)
        #expect(server.requests.count == before)
    }

    @Test func theSwitchSaysHowItStands() throws {
        try makeLeaf()
        let trust = try authority.trust(["leaf"])
        var allowed: DarwinBoolean = true
        #expect(SecTrustGetNetworkFetchAllowed(trust, &allowed) == errSecSuccess && !allowed.boolValue)
        #expect(SecTrustSetNetworkFetchAllowed(trust, true) == errSecSuccess)
        #expect(SecTrustGetNetworkFetchAllowed(trust, &allowed) == errSecSuccess && allowed.boolValue)
        #expect(
            SecTrustSetPolicies(trust, OnlinePolicies.policies(kSecRevocationNetworkAccessDisabled) as NSArray)
                == errSecSuccess)
        #expect(SecTrustGetNetworkFetchAllowed(trust, &allowed) == errSecSuccess && allowed == false)
    }

    @Test func aStapledAnswerSparesTheRequest() throws {
        let server = try LoopbackServer { _ in .nothing }
        try makeLeaf(server.address)
        try authority.list(good: ["leaf"])
        let trust = try authority.trust(["leaf"], OnlinePolicies.required)
        #expect(SecTrustSetOCSPResponse(trust, try authority.response(about: "leaf") as NSData) == errSecSuccess)
        #expect(status(of: trust) == errSecSuccess)
        #expect(server.requests.isEmpty)
    }

    @Test func aServerThatDoesNotAnswerIsNotWaitedFor() throws {
        let gate = Gate()
        defer { gate.open() }
        let server = try LoopbackServer { _ in
            gate.pass()
            return .nothing
        }
        try makeLeaf(server.address + "/1", server.address + "/2", server.address + "/3")
        var settings = OnlineSettings.patient
        settings.single = .milliseconds(50)
        #expect(try authority.statuses(settings: settings) == useless)
        #expect(try authority.reason(OnlinePolicies.required, settings).contains("(the server did not answer in time)"))
        // The time for all requests together is over after the first, and no other is sent.
        let before = server.connections
        settings = .patient
        settings.total = .milliseconds(50)
        #expect(try authority.statuses(settings: settings) == useless)
        #expect(try authority.reason(OnlinePolicies.required, settings).contains("(the server did not answer in time)"))
        #expect(server.connections <= before + 3)
    }

    @Test func noServer() throws {
        var server: LoopbackServer? = try LoopbackServer { _ in .nothing }
        try makeLeaf(try #require(server).address)
        server = nil
        #expect(try authority.statuses() == useless)
        #expect(try authority.reason().contains("the request failed"))
    }

    @Test func theNextResponderIsAsked() throws {
        let server = try LoopbackServer { _ in .status(500) }
        try authority.list(revoked: ["leaf"])
        let responder = try authority.startResponder()
        try makeLeaf(server.address + "/1", server.address + "/2", responder.address)
        #expect(try authority.statuses() == [errSecCertificateRevoked, errSecCertificateRevoked])
        #expect(server.requests.count == 4)
    }

    @Test func fewRespondersAreAsked() throws {
        let server = try LoopbackServer { _ in .status(500) }
        let addresses = (0..<11).map { "\(server.address)/\($0)" }
        try authority.make(
            "leaf", by: "root", extensions: CertificateAuthority.server(responders: Array(addresses[..<10])))
        #expect(try authority.statuses(["leaf"], [OnlinePolicies.soft]) == [errSecSuccess])
        #expect(server.requests.map(\.path) == ["/0", "/1", "/2"])
        try authority.make("leaf", by: "root", extensions: CertificateAuthority.server(responders: addresses))
        #expect(try authority.statuses(["leaf"], [OnlinePolicies.soft]) == [errSecSuccess])
        #expect(server.requests.count == 3)
    }

    @Test func otherSchemesAreNotAsked() throws {
        let file = authority.path("kept.der")
        try makeLeaf("file://\(file)", "ftp://127.0.0.1/x", "ldap://127.0.0.1/x")
        try authority.list(good: ["leaf"])
        try FolderContents.write(authority.response(about: "leaf"), to: file)
        #expect(try authority.statuses() == useless)
        // Nor if a server says so.
        let server = try LoopbackServer { _ in .status(302, headers: ["Location: file://\(file)"]) }
        try makeLeaf(server.address)
        #expect(try authority.statuses() == useless)
        #expect(server.requests.count == 2)
    }

    @Test func answersThatAreNone() throws {
        let texts = ["", "no", "<html></html>", "\u{30}\u{80}", String(repeating: "0", count: 60_000)]
        var responses = texts.map { LoopbackServer.Response.body(Data($0.utf8)) }
        responses += [
            .nothing, .status(404), .status(500), .status(204), .status(302, headers: ["Location: /again"]),
            .status(302), .endless(length: nil), .endless(length: 1 << 40),
            .body(Data(repeating: 0x30, count: 100_000)),
        ]
        let collected = responses
        let server = try LoopbackServer { request in
            let number = Int(request.path.split(separator: "/").first ?? "") ?? 9
            return collected[number]
        }
        for number in responses.indices {
            try makeLeaf("\(server.address)/\(number)")
            #expect(try authority.statuses() == useless, "\(number)")
        }
        // A server that sends the request back to itself is asked four times.
        #expect(server.requests.count { $0.path == "/again" } == 2 * 3)
    }

    @Test func aRedirectIsFollowed() throws {
        try authority.list(revoked: ["leaf"])
        let responder = try authority.startResponder()
        let address = responder.address
        let server = try LoopbackServer { _ in .status(307, headers: ["Location: \(address)"]) }
        try makeLeaf(server.address)
        #expect(try authority.statuses() == [errSecCertificateRevoked, errSecCertificateRevoked])
    }

    /// Answers a question with OpenSSL's program.
    private static func answer(_ question: Data, _ authority: CertificateAuthority) throws -> Data {
        try FolderContents.write(question, to: authority.path("asked.der"))
        try authority.openssl(
            "ocsp", "-index", "index.txt", "-CA", "root.pem", "-rsigner", "root.pem", "-rkey", "root.key", "-reqin",
            "asked.der", "-respout", "said.der", "-ndays", "1")
        return try authority.read("said.der")
    }

    @Test func anAnswerToAnotherQuestionIsRefused() throws {
        let authority = authority
        let kept = Collected<Data>()
        let server = try LoopbackServer { request in
            guard request.path == "/replay", let first = kept.all.first else {
                guard let answer = try? Self.answer(request.body, authority) else { return .status(500) }
                kept.append(answer)
                return .body(answer)
            }
            return .body(first)
        }
        try makeLeaf(server.address)
        try authority.list(good: ["leaf"])
        #expect(try authority.statuses(["leaf"], [OnlinePolicies.required]) == [errSecSuccess])
        #expect(kept.all.count == 1)
        try makeLeaf(server.address + "/replay")
        #expect(try authority.statuses() == useless)
        #expect(try authority.reason().contains("(the responder's answer is for another question)"))
    }

    @Test func anAnswerWithoutANonceIsTaken() throws {
        let authority = authority
        let server = try LoopbackServer { _ in (try? .body(authority.response(about: "leaf"))) ?? .status(500) }
        try makeLeaf(server.address)
        try authority.list(good: ["leaf"])
        #expect(try authority.statuses() == [errSecSuccess, errSecSuccess])
        // It is not taken after its end.
        var settings = OnlineSettings.patient
        settings.date = Date() + 2 * 86_400
        #expect(try authority.statuses(settings: settings) == useless)
        #expect(try authority.reason(OnlinePolicies.required, settings).contains("(the responder's answer is expired)"))
    }
}

extension CertificateAuthority {
    fileprivate func statuses(settings: OnlineSettings) throws -> [OSStatus] {
        try statuses(["leaf"], [OnlinePolicies.soft, OnlinePolicies.required], settings)
    }
}
