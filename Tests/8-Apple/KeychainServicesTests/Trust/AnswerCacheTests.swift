import Foundation
import Glibc
import KeychainServices
import OnlineChecks
import TestSupport
import Testing

/// Answers that are kept on disk, where others may change them.
@Suite struct AnswerCacheTests {
    private let authority: CertificateAuthority
    private let folder: TemporaryFolder
    private let useless = [errSecSuccess, errSecIncompleteCertRevocationCheck]

    init() throws {
        authority = try CertificateAuthority()
        folder = try TemporaryFolder()
    }

    private var path: String { folder.path(of: "cache/answers") }

    private var settings: OnlineSettings {
        var settings = OnlineSettings.patient
        settings.cache = AnswerCache(path)
        return settings
    }

    private var files: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).map { path + "/" + $0 }
    }

    /// With these policies only the kept answers count.
    private static let offline = OnlinePolicies.policies(
        kSecRevocationUseAnyAvailableMethod | kSecRevocationRequirePositiveResponse
            | kSecRevocationNetworkAccessDisabled)

    private func statuses(_ policies: [SecPolicy]..., days: Double = 0) throws -> [OSStatus] {
        var settings = settings
        if days != 0 { settings.date = Date() + days * 86_400 }
        return try authority.statuses(["leaf"], policies, settings)
    }

    /// A server that answers with OpenSSL's program, and counts.
    private func makeServer() throws -> LoopbackServer {
        let authority = authority
        let server = try LoopbackServer { request in
            switch request.path {
            case "/ocsp":
                (try? .body(authority.response(about: "leaf", ["-ndays", "1", "-resp_no_certs"]))) ?? .status(500)
            case "/list": (try? .body(authority.revocationList())) ?? .status(500)
            default: .status(404)
            }
        }
        return server
    }

    @Test func anAnswerIsKeptUntilItsEnd() throws {
        let server = try makeServer()
        try authority.make(
            "leaf", by: "root", extensions: CertificateAuthority.server(responders: [server.address + "/ocsp"]))
        try authority.list(good: ["leaf"])
        #expect(try statuses(Self.offline) == [errSecIncompleteCertRevocationCheck])
        #expect(files.isEmpty)
        #expect(try statuses(OnlinePolicies.required) == [errSecSuccess])
        #expect(files.count == 1)
        #expect(try statuses(Self.offline, OnlinePolicies.required, OnlinePolicies.soft) == [0, 0, 0])
        #expect(server.requests.count == 1)
        // The answer of the authority is no longer the same, but nobody asks before the end of the first.
        try authority.list(revoked: ["leaf"])
        #expect(try statuses(OnlinePolicies.required) == [errSecSuccess])
        #expect(try statuses(Self.offline, days: 2) == [errSecIncompleteCertRevocationCheck])
        #expect(try statuses(OnlinePolicies.required, days: 2) == [errSecCertificateRevoked])
        #expect(server.requests.count == 2)
        // A program that does not ask for revocation does not look there.
        #expect(try statuses([SecPolicyCreateSSL(true, "example.com")]) == [errSecSuccess])
    }

    @Test func whoIsRevokedIsAskedAboutAgainAfterTheEnd() throws {
        let server = try makeServer()
        try authority.make(
            "leaf", by: "root", extensions: CertificateAuthority.server(responders: [server.address + "/ocsp"]))
        try authority.list(revoked: ["leaf"])
        #expect(try statuses(OnlinePolicies.soft) == [errSecCertificateRevoked])
        #expect(files.count == 1)
        #expect(try statuses(Self.offline) == [errSecCertificateRevoked])
        #expect(try statuses(Self.offline, days: 3) == [errSecCertificateRevoked])
        #expect(server.requests.count == 1)
        #expect(try statuses(OnlinePolicies.soft, days: 3) == [errSecCertificateRevoked])
        #expect(server.requests.count == 2)
    }

    /// Changes that a file may see.
    private static let damages: [@Sendable (Data) -> Data] = [
        { _ in Data() }, { $0.dropLast() }, { $0.prefix(10) }, { $0 + [0] }, { _ in Data("no".utf8) },
        { data in
            var changed = data
            changed[data.count - 3] ^= 1
            return changed
        },
        { data in
            var changed = data
            changed[data.count / 2] ^= 1
            return changed
        },
        { _ in Data(repeating: 0x30, count: 17 << 20) },
    ]

    private func checkDamage(_ online: [SecPolicy]) throws {
        #expect(try statuses(online) == [errSecSuccess])
        let file = try #require(files.first)
        let original = try Data(contentsOf: URL(filePath: file))
        for (number, damage) in Self.damages.enumerated() {
            try FolderContents.write(damage(original), to: file)
            #expect(try statuses(Self.offline) == [errSecIncompleteCertRevocationCheck], "\(number)")
            #expect(try statuses(online) == [errSecSuccess], "\(number)")
            #expect(try statuses(Self.offline) == [errSecSuccess], "\(number)")
            #expect(files.count == 1)
        }
        // Whose file others may write says nothing.
        #expect(chmod(file, 0o666) == 0)
        #expect(try statuses(Self.offline) == [errSecIncompleteCertRevocationCheck])
        #expect(try statuses(online) == [errSecSuccess])
        #expect(try statuses(Self.offline) == [errSecSuccess])
        try FileManager.default.moveItem(atPath: file, toPath: folder.path(of: "elsewhere"))
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: folder.path(of: "elsewhere"))
        #expect(try statuses(Self.offline) == [errSecIncompleteCertRevocationCheck])
        #expect(try statuses(online) == [errSecSuccess])
        #expect(try statuses(Self.offline) == [errSecSuccess])
        #expect(chmod(path, 0o777) == 0)
        #expect(try statuses(Self.offline) == [errSecIncompleteCertRevocationCheck])
        #expect(try statuses(online) == [errSecSuccess])
        #expect(try statuses(Self.offline) == [errSecIncompleteCertRevocationCheck])
    }

    @Test func aDamagedAnswerIsReplaced() throws {
        let server = try makeServer()
        try authority.make(
            "leaf", by: "root", extensions: CertificateAuthority.server(responders: [server.address + "/ocsp"]))
        try authority.list(good: ["leaf"])
        try checkDamage(OnlinePolicies.required)
    }

    @Test func aDamagedListIsReplaced() throws {
        let server = try makeServer()
        try authority.make(
            "leaf", by: "root", extensions: CertificateAuthority.server(lists: [server.address + "/list"]))
        try authority.list(good: ["leaf"])
        try checkDamage(OnlinePolicies.listsRequired)
    }

    @Test func anAnswerInThePlaceOfAnotherSaysNothing() throws {
        let server = try makeServer()
        try authority.make(
            "leaf", by: "root", extensions: CertificateAuthority.server(responders: [server.address + "/ocsp"]))
        try authority.make("other", by: "root", extensions: CertificateAuthority.server)
        try authority.make("stranger", extensions: CertificateAuthority.authority, subject: "/CN=root")
        try authority.list(revoked: ["leaf", "other"])
        let poisons = [
            try authority.response(about: "other"), try authority.response(about: "leaf", signer: "stranger"),
        ]
        try authority.list(good: ["leaf"])
        #expect(try statuses(OnlinePolicies.required) == [errSecSuccess])
        let file = try #require(files.first)
        for poison in poisons {
            try FolderContents.write(poison, to: file)
            #expect(try statuses(Self.offline) == [errSecIncompleteCertRevocationCheck])
            #expect(try statuses(OnlinePolicies.required) == [errSecSuccess])
            #expect(try Data(contentsOf: URL(filePath: file)) != poison)
        }
    }

    @Test func answersThatAreNotValidAreNotKept() throws {
        let server = try makeServer()
        try authority.make(
            "leaf", by: "root",
            extensions: CertificateAuthority.server(
                responders: [server.address + "/ocsp"], lists: [server.address + "/none"]))
        let any = OnlinePolicies.policies(kSecRevocationUseAnyAvailableMethod)
        #expect(try statuses(any) == [errSecSuccess])
        #expect(server.requests.count == 2)
        #expect(files.isEmpty)
    }

    @Test func theCacheHasBounds() throws {
        var cache = AnswerCache(path)
        (cache.mostFiles, cache.mostBytes) = (4, 1_000)
        for number in 0..<20 { cache.write(.init("\(number)"), Data(repeating: 1, count: 100)) }
        #expect(files.count == 4)
        for number in 0..<20 { cache.write(.init("large \(number)"), Data(repeating: 1, count: 400)) }
        // The newest are there.
        #expect(try bytes() <= 1_000)
        #expect(cache.read(.init("large 19"), limit: 400) != nil)
        cache.write(.init("too large"), Data(repeating: 1, count: 1_001))
        #expect(cache.read(.init("too large"), limit: 2_000) == nil)
        #expect(cache.read(.init("large 19"), limit: 400) != nil)
        // What a crash left behind counts as well.
        try Data(repeating: 1, count: 900).write(to: URL(filePath: path + "/.left.1.1"))
        cache.write(.init("next"), Data(repeating: 1, count: 900))
        #expect(try bytes() <= 1_000)
        #expect(cache.read(.init("next"), limit: 900) != nil)
    }

    private func bytes() throws -> Int { try files.reduce(0) { try $0 + Data(contentsOf: URL(filePath: $1)).count } }

    @Test func aPlaceThatCannotBeWrittenKeepsNothing() throws {
        let cache = AnswerCache("/proc/no/such/place")
        cache.write(.init("a"), Data([1]))
        #expect(cache.read(.init("a"), limit: 10) == nil)
        let good = AnswerCache(path)
        good.write(.init("a"), Data([1, 2]))
        #expect(good.read(.init("a"), limit: 2) == Data([1, 2]))
        #expect(good.read(.init("a"), limit: 1) == nil)
        #expect(good.read(.init("a", about: Data([1])), limit: 2) == nil)
    }
}
