import Foundation
import KeychainServices
import OnlineChecks
import TestSupport
import Testing

/// Certificates of authorities that are missing, from a server on the loopback interface.
@Suite struct IssuerSearchTests {
    private let authority: CertificateAuthority
    private let server: LoopbackServer

    /// The files are those of the authority, by name.
    init() throws {
        let authority = try CertificateAuthority()
        self.authority = authority
        server = try LoopbackServer { request in
            (try? .body(authority.read(String(request.path.dropFirst())))) ?? .status(404)
        }
        try authority.make("intermediate", by: "root", extensions: CertificateAuthority.authority)
    }

    private func makeLeaf(_ files: String...) throws {
        try authority.make(
            "leaf", by: "intermediate",
            extensions: CertificateAuthority.server(issuers: files.map { "\(server.address)/\($0)" }))
    }

    private func trust(
        _ names: [String] = ["leaf"], allowed: Bool? = true, _ settings: OnlineSettings = .patient,
        _ policies: [SecPolicy] = [SecPolicyCreateSSL(true, "example.com")]
    ) throws -> SecTrust {
        let trust = try authority.trust(names, policies, settings)
        if let allowed { #expect(SecTrustSetNetworkFetchAllowed(trust, allowed) == errSecSuccess) }
        return trust
    }

    @Test func aMissingAuthorityIsFetched() throws {
        try makeLeaf("intermediate.der")
        let trust = try trust()
        #expect(status(of: trust) == errSecSuccess)
        #expect(SecTrustGetCertificateAtIndex(trust, 1) == (try authority.certificate("intermediate")))
        #expect(server.requests.map(\.path) == ["/intermediate.der"])
        #expect(server.requests.map(\.method) == ["GET"])
    }

    @Test func whoDoesNotAllowItFetchesNothing() throws {
        try makeLeaf("intermediate.der")
        #expect(status(of: try trust(allowed: nil)) == errSecCreateChainFailed)
        #expect(status(of: try trust(allowed: false)) == errSecCreateChainFailed)
        // A policy for revocation allows to ask about that, once there is a path.
        #expect(
            status(of: try trust(allowed: nil, OnlineSettings.patient, OnlinePolicies.soft)) == errSecCreateChainFailed)
        let disabled = OnlinePolicies.policies(kSecRevocationOCSPMethod | kSecRevocationNetworkAccessDisabled)
        #expect(status(of: try trust(allowed: true, OnlineSettings.patient, disabled)) == errSecCreateChainFailed)
        #expect(server.requests.isEmpty)
    }

    @Test func aWholePathNeedsNothing() throws {
        try makeLeaf("intermediate.der")
        #expect(status(of: try trust(["leaf", "intermediate"])) == errSecSuccess)
        #expect(server.requests.isEmpty)
    }

    @Test func severalForms() throws {
        try authority.openssl(
            "crl2pkcs7", "-nocrl", "-certfile", "root.pem", "-certfile", "intermediate.pem", "-outform", "DER", "-out",
            "both.p7c")
        for name in ["intermediate.pem", "both.p7c"] {
            try makeLeaf(name)
            #expect(status(of: try trust()) == errSecSuccess, "\(name)")
        }
    }

    @Test func severalAuthoritiesAreFetched() throws {
        func issuer(_ name: String) -> [String] {
            CertificateAuthority.authority + ["authorityInfoAccess=caIssuers;URI:\(server.address)/\(name).der"]
        }
        var above = "root"
        for number in 1...6 {
            try authority.make("a\(number)", by: above, extensions: issuer(above))
            above = "a\(number)"
        }
        for number in [4, 5] {
            try authority.make(
                "leaf", by: "a\(number)",
                extensions: CertificateAuthority.server(
                    issuers: ["\(server.address)/a\(number).der"]))
            // Four are fetched, and no more.
            #expect(status(of: try trust()) == (number == 4 ? errSecSuccess : errSecCreateChainFailed))
        }
        #expect(server.requests.count == 8)
    }

    @Test func theNextPlaceIsAsked() throws {
        try authority.write("no", to: "text")
        try makeLeaf("none", "text", "intermediate.der")
        #expect(status(of: try trust()) == errSecSuccess)
        #expect(server.requests.map(\.path) == ["/none", "/text", "/intermediate.der"])
    }

    @Test func whatIsNotTheIssuerIsOfNoUse() throws {
        // With another name, with the name and another key, and the certificate itself.
        try authority.make("other", by: "root", extensions: CertificateAuthority.authority)
        try authority.make(
            "namesake", by: "root", extensions: CertificateAuthority.authority, subject: "/CN=intermediate")
        for name in ["other", "namesake", "leaf", "root"] {
            try makeLeaf("\(name).der")
            #expect(status(of: try trust()) != errSecSuccess, "\(name)")
        }
    }

    @Test func otherSchemesAreNotFetched() throws {
        try authority.make(
            "leaf", by: "intermediate",
            extensions: CertificateAuthority.server(issuers: ["file://" + authority.path("intermediate.der")]))
        #expect(status(of: try trust()) == errSecCreateChainFailed)
    }

    /// A wrong one, or one that has expired, would keep the right one away.
    @Test func whatWasFetchedIsNotKept() throws {
        let folder = try TemporaryFolder()
        var settings = OnlineSettings.patient
        settings.cache = AnswerCache(folder.path(of: "cache"))
        try makeLeaf("intermediate.der")
        #expect(status(of: try trust(["leaf"], allowed: true, settings)) == errSecSuccess)
        #expect(status(of: try trust(["leaf"], allowed: true, settings)) == errSecSuccess)
        #expect(server.requests.count == 2)
    }

    @Test func aServerThatDoesNotAnswerIsNotWaitedFor() throws {
        let gate = Gate()
        defer { gate.open() }
        let slow = try LoopbackServer { _ in
            gate.pass()
            return .nothing
        }
        try authority.make(
            "leaf", by: "intermediate",
            extensions: CertificateAuthority.server(
                issuers: [slow.address + "/1", slow.address + "/2"]))
        var settings = OnlineSettings.patient
        settings.single = .milliseconds(50)
        #expect(status(of: try trust(["leaf"], allowed: true, settings)) == errSecCreateChainFailed)
    }

    /// The search ends at its own deadline, whatever the servers send until then.
    @Test func serversThatTrickleDoNotMakeTheSearchLonger() throws {
        let slow = try LoopbackServer { _ in .trickling }
        try authority.make(
            "leaf", by: "intermediate",
            extensions: CertificateAuthority.server(issuers: (1...3).map { "\(slow.address)/\($0)" }))
        // The first place takes all the time there is, or each of the three a part of it.
        for (single, total, most) in [(60_000, 100, 1), (50, 60_000, 3)] {
            let before = slow.connections
            var settings = OnlineSettings.patient
            (settings.single, settings.total) = (.milliseconds(single), .milliseconds(total))
            #expect(status(of: try trust(["leaf"], allowed: true, settings)) == errSecCreateChainFailed)
            #expect(slow.connections - before <= most)
        }
    }

    /// What was fetched is asked about like everything else.
    @Test func anAuthorityThatWasFetchedMayBeRevoked() throws {
        try makeLeaf("intermediate.der")
        try authority.list(revoked: ["intermediate"])
        let trust = try trust()
        #expect(SecTrustSetOCSPResponse(trust, try authority.response(about: "intermediate") as NSData) == 0)
        #expect(status(of: trust) == errSecCertificateRevoked)
    }
}
