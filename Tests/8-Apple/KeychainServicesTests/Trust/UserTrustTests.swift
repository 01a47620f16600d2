import Foundation
import KeychainServices
import TestSupport
import Testing

/// The user's settings of trust, in programs that ask `SecTrust`.
@Suite struct UserTrustTests {
    private let authority: CertificateAuthority
    private let folder: TemporaryFolder

    init() throws {
        authority = try CertificateAuthority.shared.get()
        folder = try TemporaryFolder()
    }

    /// Returns what another process is told about the server's certificate, with these settings.
    private func outcome(_ settings: String?, of certificate: String = "root", mode: Int = 0o600) throws -> String {
        let place = folder.path + "/home-keychains"
        if let settings {
            try? FileManager.default.removeItem(atPath: place)
            try FileManager.default.createDirectory(
                atPath: place, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            let encoded = try authority.der(certificate).base64EncodedString()
            let text = #"{"entries":[{"certificate":"\#(encoded)","settings":[\#(settings)]}]}"#
            try #require(
                FileManager.default.createFile(
                    atPath: place + "/trust-settings", contents: Data(text.utf8), attributes: [.posixPermissions: mode])
            )
        }
        let binary = URL(filePath: Worker.executable).deletingLastPathComponent().appending(path: "TrustWorker")
        let names = ["server", "intermediate"].map { authority.path("\($0).der") }.joined(separator: ",")
        let run = try ProgramStart(
            [binary.path, "example.com", "\(Date().timeIntervalSince1970)", names],
            environment: [
                "SSL_CERT_FILE=/nowhere", "SSL_CERT_DIR=/nowhere", "HOME=\(folder.path)",
                "KEYCHAIN_HOME=\(folder.path)/home",
            ]
        ).run()
        try #require(run.status == 0, "\(run.errors)")
        return String(run.text.prefix { $0 != " " })
    }

    @Test func whatTheUserTrustsIsTrusted() throws {
        #expect(try outcome(nil) == "\(errSecCreateChainFailed)")
        #expect(try outcome(#"{"result":"trustRoot"}"#) == "0")
        #expect(try outcome(#"{"policy":"ssl","result":"trustRoot"}"#) == "0")
        #expect(try outcome(#"{"policy":"ssl","host":"Example.com","result":"trustRoot"}"#) == "0")
        #expect(try outcome(#"{"result":"trustAsRoot"}"#, of: "intermediate") == "0")
    }

    @Test func whatTheUserTrustsForSomethingElseIsNot() throws {
        for settings in [
            #"{"policy":"smime","result":"trustRoot"}"#, #"{"policy":"ssl","host":"example.org","result":"trustRoot"}"#,
            #"{"result":"unspecified"}"#, "",
        ] {
            #expect(try outcome(settings) != "0", "\(settings)")
        }
    }

    @Test func whatTheUserForbidsIsNotTrusted() throws {
        #expect(try outcome(#"{"result":"deny"}"#, of: "intermediate") == "\(errSecTrustSettingDeny)")
    }

    /// They may forbid a certificate.
    @Test func settingsThatCannotBeReadTrustNothing() throws {
        #expect(try outcome(#"{"result":"always"}"#) == "\(errSecInternal)")
        #expect(try outcome(#"{"result":"trustRoot"}"#, mode: 0o666) == "\(errSecInternal)")
    }
}
