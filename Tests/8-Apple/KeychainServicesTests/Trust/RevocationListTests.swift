import Foundation
import KeychainServices
import OnlineChecks
import OpenSSLCertificates
import TestSupport
import Testing

/// Revocation lists that OpenSSL's program makes, from a server on the loopback interface.
@Suite struct RevocationListTests {
    private let authority: CertificateAuthority
    private let server: LoopbackServer
    private let files: Files
    private let useless = [errSecSuccess, errSecIncompleteCertRevocationCheck]

    /// What the server has, by path.
    private final class Files: Sendable {
        private let changes = Collected<(path: String, data: Data?)>()

        subscript(path: String) -> Data? {
            get { changes.all.last { $0.path == path }?.data }
            set { changes.append((path, newValue)) }
        }
    }

    init() throws {
        authority = try CertificateAuthority()
        let files = Files()
        self.files = files
        server = try LoopbackServer { request in files[request.path].map { .body($0) } ?? .status(404) }
        try makeLeaf(deltas: [])
    }

    private func makeLeaf(deltas: [String]) throws {
        try authority.make(
            "leaf", by: "root",
            extensions: CertificateAuthority.server(lists: [server.address + "/list"], deltas: deltas))
    }

    private func statuses(_ settings: OnlineSettings = .patient) throws -> [OSStatus] {
        try authority.statuses(["leaf"], [OnlinePolicies.lists, OnlinePolicies.listsRequired], settings)
    }

    private let revoked = [errSecCertificateRevoked, errSecCertificateRevoked]

    @Test func aListSaysWhoIsRevoked() throws {
        #expect(try statuses() == useless)
        try authority.list(good: ["leaf"])
        files["/list"] = try authority.revocationList()
        #expect(try statuses() == [errSecSuccess, errSecSuccess])
        try authority.list(revoked: ["leaf"])
        files["/list"] = try authority.revocationList()
        #expect(try statuses() == revoked)
        #expect(server.requests.allSatisfy { $0.method == "GET" })
    }

    @Test func authoritiesAreLookedUp() throws {
        try authority.make(
            "intermediate", by: "root",
            extensions: CertificateAuthority.authority + ["crlDistributionPoints=URI:\(server.address)/list"])
        try authority.make("below", by: "intermediate", extensions: CertificateAuthority.server)
        try authority.list(revoked: ["intermediate"])
        files["/list"] = try authority.revocationList()
        #expect(
            try authority.statuses(["below", "intermediate"], [OnlinePolicies.lists]) == [errSecCertificateRevoked])
    }

    /// A list that is not valid, and why.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var reason: String
        var make: @Sendable (CertificateAuthority) throws -> Data
    }

    static let cases = [
        Case(testDescription: "expired", reason: "the revocation list is expired") {
            try $0.revocationList(["-crl_lastupdate", "20250101000000Z", "-crl_nextupdate", "20250201000000Z"])
        },
        Case(testDescription: "not valid yet", reason: "the revocation list is not valid yet") {
            try $0.revocationList(["-crl_lastupdate", "20400101000000Z", "-crl_nextupdate", "20400201000000Z"])
        },
        Case(testDescription: "of somebody with the same name", reason: "the revocation list has no valid signature") {
            try $0.make("stranger", extensions: CertificateAuthority.authority, subject: "/CN=root")
            return try $0.revocationList(by: "stranger", namesKey: false)
        },
        Case(testDescription: "of another authority", reason: "there is no revocation list for the certificate") {
            try $0.make("other", extensions: CertificateAuthority.authority)
            return try $0.revocationList(by: "other")
        },
        Case(testDescription: "forged", reason: "the revocation list has no valid signature") {
            var list = try $0.revocationList()
            list[list.count - 3] ^= 1
            return list
        },
        Case(testDescription: "cut", reason: "there is no revocation list for the certificate") {
            try $0.revocationList().dropLast()
        },
        Case(testDescription: "no list", reason: "there is no revocation list for the certificate") { _ in
            Data("<html></html>".utf8)
        },
        Case(testDescription: "with something critical", reason: "the revocation list cannot be used") {
            try $0.revocationList(extensions: ["1.2.3.4=critical,ASN1:NULL"])
        },
        Case(testDescription: "for authorities alone", reason: "there is no revocation list for the certificate") {
            try $0.revocationList(extensions: ["issuingDistributionPoint=critical,onlyCA:true"])
        },
    ]

    @Test(arguments: cases) func aListThatIsNotValidSaysNothing(_ wanted: Case) throws {
        try authority.list(revoked: ["leaf"])
        files["/list"] = try wanted.make(authority)
        #expect(try statuses() == useless)
        let reason = try authority.reason(OnlinePolicies.listsRequired)
        #expect(reason.contains("(" + wanted.reason), "\(reason)")
    }

    @Test func anAuthorityThatMayNotSignListsSaysNothing() throws {
        try authority.make(
            "root", extensions: ["basicConstraints=critical,CA:true", "keyUsage=critical,keyCertSign"])
        try makeLeaf(deltas: [])
        try authority.list(revoked: ["leaf"])
        files["/list"] = try authority.revocationList()
        #expect(try statuses() == useless)
    }

    @Test func aListIsValidUntilItsEnd() throws {
        try authority.list(revoked: ["leaf"])
        files["/list"] = try authority.revocationList(["-crldays", "4"])
        var settings = OnlineSettings.patient
        settings.date = Date() + 3.9 * 86_400
        #expect(try statuses(settings) == revoked)
        // Clocks may differ by 75 minutes.
        settings.date = Date() + 4.04 * 86_400
        #expect(try statuses(settings) == revoked)
        settings.date = Date() + 4.06 * 86_400
        #expect(try statuses(settings) == useless)
    }

    @Test func whatChangedSinceIsLookedUp() throws {
        for isInList in [true, false] {
            let place = "\(server.address)/delta"
            try makeLeaf(deltas: isInList ? [] : [place])
            try authority.list(good: ["leaf"])
            try authority.write("01", to: "crlnumber")
            files["/list"] = try authority.revocationList(extensions: isInList ? ["freshestCRL=URI:\(place)"] : [])
            files["/delta"] = nil
            #expect(try statuses() == [errSecSuccess, errSecSuccess])
            try authority.list(revoked: ["leaf"])
            files["/delta"] = try authority.revocationList(extensions: ["2.5.29.27=critical,DER:02:01:01"])
            #expect(try statuses() == revoked)
            // It says what changed since another list.
            files["/delta"] = try authority.revocationList(extensions: ["2.5.29.27=critical,DER:02:01:05"])
            #expect(try statuses() == [errSecSuccess, errSecSuccess])
            // What cannot be read, or is forged, is no list, and hides nothing.
            var forged = try authority.revocationList(extensions: ["2.5.29.27=critical,DER:02:01:01"])
            forged[forged.count - 3] ^= 1
            for delta in [Data("no".utf8), forged] {
                files["/delta"] = delta
                #expect(try statuses() == [errSecSuccess, errSecSuccess])
            }
        }
    }

    @Test func aListOfSomebodyElseSendsNoRequests() throws {
        try authority.make("stranger", extensions: CertificateAuthority.authority, subject: "/CN=root")
        files["/list"] = try authority.revocationList(
            by: "stranger", namesKey: false, extensions: ["freshestCRL=URI:\(server.address)/elsewhere"])
        #expect(try statuses() == useless)
        #expect(server.requests.map(\.path) == ["/list", "/list"])
    }

    /// A list of changes says nothing alone.
    @Test func whatChangedSinceIsNoList() throws {
        try authority.list(revoked: ["leaf"])
        files["/list"] = try authority.revocationList(extensions: ["2.5.29.27=critical,DER:02:01:01"])
        #expect(try statuses() == useless)
    }

    @Test func listsAreKept() throws {
        let folder = try TemporaryFolder()
        var settings = OnlineSettings.patient
        settings.cache = AnswerCache(folder.path(of: "cache"))
        try makeLeaf(deltas: ["\(server.address)/delta"])
        try authority.list(good: ["leaf"])
        try authority.write("01", to: "crlnumber")
        files["/list"] = try authority.revocationList(["-crldays", "9"])
        files["/delta"] = try authority.revocationList(extensions: ["2.5.29.27=critical,DER:02:01:01"])
        #expect(try statuses(settings) == [errSecSuccess, errSecSuccess])
        #expect(server.requests.map(\.path) == ["/list", "/delta", "/delta"])
        // What changed since is asked each time, so that a wrong answer does not last.
        files["/delta"] = try authority.revocationList(
            extensions: ["2.5.29.27=critical,DER:02:01:05"], ["-crldays", "9"])
        #expect(try statuses(settings) == [errSecSuccess, errSecSuccess])
        try authority.list(revoked: ["leaf"])
        files["/delta"] = try authority.revocationList(
            extensions: ["2.5.29.27=critical,DER:02:01:01"], ["-crldays", "9"])
        #expect(try statuses(settings) == revoked)
        settings.date = Date() + 2 * 86_400
        #expect(try statuses(settings) == revoked)
        #expect(server.requests.map(\.path).filter { $0 == "/list" } == ["/list"])
    }

    @Test func whatIsPreferredIsAskedFirst() throws {
        try authority.make(
            "leaf", by: "root",
            extensions: CertificateAuthority.server(
                responders: [server.address + "/ocsp"], lists: [server.address + "/list"]))
        func paths(_ flags: CFOptionFlags) throws -> [String] {
            let before = server.requests.count
            _ = try authority.statuses(["leaf"], [OnlinePolicies.policies(flags)])
            return server.requests.dropFirst(before).map(\.path)
        }
        let any = kSecRevocationUseAnyAvailableMethod
        #expect(try paths(any) == ["/ocsp", "/list"])
        #expect(try paths(any | kSecRevocationPreferCRL) == ["/list", "/ocsp"])
        #expect(try paths(kSecRevocationCRLMethod) == ["/list"])
        #expect(try paths(kSecRevocationOCSPMethod | kSecRevocationPreferCRL) == ["/ocsp"])
        try authority.list(good: ["leaf"])
        files["/list"] = try authority.revocationList()
        #expect(try paths(any | kSecRevocationPreferCRL) == ["/list"])
        files["/ocsp"] = try authority.response(about: "leaf")
        #expect(try paths(any) == ["/ocsp"])
    }

    @Test func theNextPlaceIsAsked() throws {
        try authority.make(
            "leaf", by: "root",
            extensions: CertificateAuthority.server(lists: [server.address + "/none", server.address + "/list"]))
        try authority.list(revoked: ["leaf"])
        files["/list"] = try authority.revocationList()
        #expect(try statuses() == revoked)
    }

    /// A list that would not fit into memory is not read to its end.
    @Test func aListHasABound() throws {
        let server = try LoopbackServer { _ in .endless(length: nil) }
        try authority.make("leaf", by: "root", extensions: CertificateAuthority.server(lists: [server.address]))
        #expect(try statuses() == useless)
        #expect(try authority.reason(OnlinePolicies.listsRequired).contains("(the server's answer is too large)"))
    }
}
