import Foundation
import KeychainServices
import TestSupport
import Testing

/// Paths whose certificates the tests make, against Apple's codes and against the verdict of OpenSSL's program.
struct PathTableTests {
    private let verdicts: PathVerdicts

    init() throws { verdicts = try PathVerdicts.shared.get() }

    @Test func thereAreEnough() { #expect(PathTable.cases.count >= 500) }

    @Test(arguments: PathTable.cases) func asApple(_ entry: PathCase) throws {
        let status = try evaluate(entry)
        #expect(status == entry.status)
        let isAccepted = verdicts.isAccepted(entry)
        #expect(isAccepted == ((status == errSecSuccess) == (entry.difference == nil)), "OpenSSL: \(isAccepted)")
    }

    private func certificates(_ names: [String], _ entry: PathCase) throws -> [SecCertificate] {
        try names.map { name in
            try #require(SecCertificateCreateWithData(nil, verdicts.der(name, of: entry) as NSData), "\(name)")
        }
    }

    private func evaluate(_ entry: PathCase) throws -> OSStatus {
        let policy =
            switch entry.policy {
            case .basic: SecPolicyCreateBasicX509()
            case .client: SecPolicyCreateSSL(false, nil)
            case .server(let host): SecPolicyCreateSSL(true, host.map { $0 as CFString })
            }
        var created: SecTrust?
        let given = try certificates(entry.given, entry) as NSArray
        #expect(SecTrustCreateWithCertificates(given, policy, &created) == errSecSuccess)
        let trust = try #require(created)
        let anchors = try certificates(entry.anchors, entry) as NSArray
        #expect(SecTrustSetAnchorCertificates(trust, anchors) == errSecSuccess)
        #expect(SecTrustSetVerifyDate(trust, entry.date as CFDate) == errSecSuccess)
        return KeychainServicesTests.status(of: trust)
    }

    /// The guide lists each kind of difference, and each is in the table.
    @Test func eachDifferenceIsListed() throws {
        let guide = try Repository.text("Documentation/Specify/Trust.md")
        for difference in PathDifference.allCases {
            #expect(guide.contains("| \(difference.rawValue) |"), "\(difference)")
            #expect(PathTable.cases.contains { $0.difference == difference }, "\(difference)")
        }
    }
}
