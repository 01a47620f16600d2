import Crypto
import Foundation
import KeychainServices
import TestSupport
import Testing

/// Public logs that promise to list a certificate. OpenSSL's program makes the certificates, and its client checks the
/// timestamps too.
@Suite struct TransparencyTests {
    private let authority: CertificateAuthority
    private let logs = (0..<4).map { _ in TestLog() }

    init() throws {
        authority = try CertificateAuthority()
        try authority.makeOldRoot()
    }

    /// Makes a certificate for `example.com`, valid for this number of days from the first of May 2026.
    private func make(_ name: String, days: Int = 90, _ extensions: [String] = []) throws {
        try authority.openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "leaf.key")
        try issue(name, days: days, extensions)
    }

    private func issue(_ name: String, days: Int, _ extensions: [String]) throws {
        let end = Self.start.addingTimeInterval(Double(days) * 86_400)
        let format = Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted)
        let text = end.formatted(format).replacing("T", with: "")
        try authority.write("", to: "\(name).txt")
        try authority.write("77", to: "\(name).serial")
        try authority.write(
            """
            [ca]
            default_ca=own
            [own]
            database=\(name).txt
            new_certs_dir=.
            serial=\(name).serial
            default_md=sha256
            policy=any
            [any]
            commonName=supplied
            [leaf]
            \((CertificateAuthority.server + extensions).joined(separator: "\n"))

            """, to: "\(name).conf")
        try authority.openssl("req", "-new", "-key", "leaf.key", "-subj", "/CN=leaf", "-out", "leaf.csr")
        try authority.openssl(
            "ca", "-batch", "-config", "\(name).conf", "-extensions", "leaf", "-keyfile", "root.key", "-cert",
            "root.pem", "-in", "leaf.csr", "-startdate", "20260501000000Z", "-enddate", text, "-notext", "-out",
            "\(name).pem")
        try authority.openssl("x509", "-in", "\(name).pem", "-outform", "DER", "-out", "\(name).der")
    }

    /// The first of May 2026, when the certificates begin.
    private static let start = Date(timeIntervalSince1970: 1_777_593_600)
    private static let promised = start.addingTimeInterval(3_600)
    private static let now = start.addingTimeInterval(86_400)

    /// What logs sign of a certificate that has no timestamps yet, put together here and not by the product: its
    /// TBSCertificate begins after the four bytes of the outer SEQUENCE, and has four bytes of its own before it.
    private func precertificate(_ name: String) throws -> Data {
        let der = try authority.der(name)
        try #require(der.count > 256 && der[1] == 0x82 && der[5] == 0x82)
        let body = der[4..<(8 + Int(der[6]) << 8 + Int(der[7]))]
        let key = try authority.openssl("x509", "-in", "root.pem", "-noout", "-pubkey")
        try authority.write(key, to: "root.public")
        try authority.openssl("pkey", "-pubin", "-in", "root.public", "-outform", "DER", "-out", "root.spki")
        let issuer = Data(SHA256.hash(data: try authority.read("root.spki")))
        return Data([0, 1]) + issuer + body.lengthPrefixed(by: 3)
    }

    private func certificateEntry(_ name: String) throws -> Data {
        Data([0, 0]) + (try authority.der(name)).lengthPrefixed(by: 3)
    }

    /// Makes `leaf` with the timestamps of logs in it.
    private func makeListed(by logs: [TestLog], days: Int = 90, at date: Date = promised) throws {
        try make("before", days: days)
        let entry = try precertificate("before")
        let timestamps = try logs.map { try $0.timestamp(of: entry, at: date).lengthPrefixed(by: 2) }
        let list = timestamps.reduce(Data(), +).lengthPrefixed(by: 2)
        let length = list.count < 256 ? Data([0x81]) : Data([0x82, UInt8(list.count >> 8)])
        let octets = Data([0x04]) + length + [UInt8(list.count & 0xFF)] + list
        let digits = octets.map { String(format: "%02x", $0) }.joined(separator: ":")
        try issue("leaf", days: days, ["1.3.6.1.4.1.11129.2.4.2=DER:\(digits)"])
    }

    private func question(_ logs: CFArray?) throws -> SecTrust {
        let trust = try authority.trust(["leaf"])
        #expect(SecTrustSetTrustedLogs(trust, logs) == errSecSuccess)
        #expect(SecTrustSetVerifyDate(trust, Self.now as NSDate) == errSecSuccess)
        return trust
    }

    private func isListed(_ trust: SecTrust) -> Bool {
        #expect(status(of: trust) == errSecSuccess)
        return SecTrustCopyResult(trust)?[kSecTrustCertificateTransparency] as? NSNumber == true
    }

    private func isListed(by logs: [TestLog]) throws -> Bool { try isListed(question(logs.map(\.key) as NSArray)) }

    @Test func twoLogsAreEnoughForAShortTime() throws {
        try makeListed(by: Array(logs[..<2]))
        #expect(try isListed(by: Array(logs[..<2])))
        #expect(try isListed(by: logs))
        // A log that the program does not name counts for nothing.
        #expect(try !isListed(by: [logs[0], logs[2]]))
        #expect(try !isListed(by: []))
        #expect(try !isListed(question(nil)))
    }

    @Test(arguments: [(180, 2), (181, 3), (825, 3)]) func longerTimesNeedMoreLogs(days: Int, needed: Int) throws {
        try makeListed(by: Array(logs[..<needed]), days: days)
        #expect(try isListed(by: logs))
        try makeListed(by: Array(logs[..<(needed - 1)]), days: days)
        #expect(try !isListed(by: logs))
    }

    @Test func oneLogCountsOnce() throws {
        try makeListed(by: [logs[0], logs[0]])
        #expect(try !isListed(by: logs))
    }

    @Test func aPromiseOfTheFutureIsNone() throws {
        try makeListed(by: Array(logs[..<2]), at: Self.now.addingTimeInterval(1))
        #expect(try !isListed(by: logs))
        try makeListed(by: Array(logs[..<2]), at: Self.now)
        #expect(try isListed(by: logs))
    }

    @Test func timestampsOfTheHandshakeCount() throws {
        try make("leaf")
        let entry = try certificateEntry("leaf")
        let both = try logs[..<2].map { try $0.timestamp(of: entry, at: Self.promised) }
        let trust = try question(logs.map(\.key) as NSArray)
        #expect(!isListed(trust))
        func areEnough(_ timestamps: [Data]) -> Bool {
            #expect(SecTrustSetSignedCertificateTimestamps(trust, timestamps as NSArray) == errSecSuccess)
            return isListed(trust)
        }
        #expect(areEnough(both))
        #expect(!areEnough([both[0]]))
        #expect(!areEnough([both[0], both[0]]))
        #expect(!areEnough([both[0], both[1].dropLast(), both[1] + [0], Data()]))
        // Each byte is covered by the signature, or is part of it.
        for index in both[1].indices {
            var changed = both[1]
            changed[index] ^= 1
            #expect(!areEnough([both[0], changed]), "byte \(index)")
        }
        // A promise about the certificate before it had timestamps is none about this one, and the other way round.
        let other = try logs[1].timestamp(of: precertificate("leaf"), at: Self.promised)
        #expect(!areEnough([both[0], other]))
    }

    @Test func aRetiredLogCountsForWhatItPromisedBefore() throws {
        func named(_ log: TestLog, _ dates: [String: Date]) -> NSDictionary {
            (["key": log.key] as [String: Any]).merging(dates) { $1 } as NSDictionary
        }
        let (later, sooner) = (Self.promised.addingTimeInterval(1), Self.promised.addingTimeInterval(-1))
        try makeListed(by: Array(logs[..<2]))
        let end = Self.start.addingTimeInterval(90 * 86_400)
        for (dates, expected) in [
            (["expiry": later], true), (["expiry": sooner], false), (["frozen": later], true),
            (["frozen": sooner], false), (["start_inclusive": end], true),
            (["start_inclusive": end.addingTimeInterval(1)], false),
            (["end_exclusive": end.addingTimeInterval(1)], true), (["end_exclusive": end], false),
        ] {
            let logs = [named(logs[0], [:]), named(logs[1], dates)]
            #expect(try isListed(question(logs as NSArray)) == expected, "\(dates)")
        }
        // One of them must still promise something.
        let retired = logs[..<2].map { named($0, ["expiry": later]) }
        #expect(try !isListed(question(retired as NSArray)))
    }

    @Test func logsAreKeys() throws {
        try make("leaf")
        let trust = try authority.trust(["leaf"])
        for wrong in [[Data([1]) as NSData], ["text" as NSString], [NSDictionary()], [logs[0].key, NSNumber(1)]] {
            #expect(SecTrustSetTrustedLogs(trust, wrong as NSArray) == errSecParam)
        }
    }

    @Test func belowAnAnchorOfTheSystemPromisesAreNeeded() throws {
        try makeListed(by: Array(logs[..<2]))
        for (index, log) in logs.enumerated() {
            try (log.key as Data).write(to: URL(filePath: authority.path("log\(index)")))
        }
        func outcome(_ certificate: String, logs: [Int]?) throws -> String {
            let binary = URL(filePath: Worker.executable).deletingLastPathComponent().appending(path: "TrustWorker")
            var arguments = [
                binary.path, "example.com", "\(Self.now.timeIntervalSince1970)", authority.path("\(certificate).der"),
            ]
            if let logs { arguments.append(logs.map { authority.path("log\($0)") }.joined(separator: ",")) }
            let environment = ["SSL_CERT_FILE=\(authority.path("root.pem"))", "SSL_CERT_DIR=/nowhere"]
            let run = try ProgramStart(arguments, environment: environment).run()
            try #require(run.status == 0, "\(run.errors)")
            return run.text
        }
        #expect(try outcome("leaf", logs: nil) == "0 0\n")
        #expect(try outcome("leaf", logs: [0, 1]) == "0 1\n")
        #expect(try outcome("leaf", logs: [0, 2]) == "\(errSecVerifyActionFailed) 0\n")
        #expect(try outcome("before", logs: [0, 1]) == "\(errSecVerifyActionFailed) 0\n")
    }

    @Test func openSSLSaysTheSame() throws {
        try makeListed(by: Array(logs[..<3]))
        var text = "enabled_logs=" + logs.indices.map { "log\($0)" }.joined(separator: ",") + "\n"
        for (index, log) in logs.enumerated() {
            text += "[log\(index)]\ndescription=\(index)\nkey=\((log.key as Data).base64EncodedString())\n"
        }
        try authority.write(text, to: "logs.conf")
        let server = try RunningResponder([
            "s_server", "-accept", "0", "-cert", authority.path("leaf.pem"), "-key", authority.path("leaf.key"),
        ])
        let said = try authority.openssl(
            "s_client", "-connect", "127.0.0.1:\(server.port)", "-CAfile", "root.pem", "-ct", "-ctlogfile", "logs.conf",
            "-attime", "\(Int(Self.now.timeIntervalSince1970))")
        #expect(said.contains("Verify return code: 0 (ok)"), Comment(rawValue: said))
        #expect(said.components(separatedBy: "SCT validation status: valid").count == 4, Comment(rawValue: said))
        #expect(try isListed(by: logs))
    }
}

/// A public log of a test.
private struct TestLog {
    private let signer = P256.Signing.PrivateKey()

    /// The DER of its SubjectPublicKeyInfo.
    var key: NSData { signer.publicKey.derRepresentation as NSData }

    /// A SignedCertificateTimestamp (RFC 6962, 3.2).
    func timestamp(of entry: Data, at date: Date) throws -> Data {
        let milliseconds = withUnsafeBytes(of: UInt64(date.timeIntervalSince1970 * 1000).bigEndian) { Data($0) }
        let signature = try signer.signature(for: Data([0, 0]) + milliseconds + entry + [0, 0]).derRepresentation
        let digest = Data(SHA256.hash(data: signer.publicKey.derRepresentation))
        return Data([0]) + digest + milliseconds + [0, 0, 4, 3] + signature.lengthPrefixed(by: 2)
    }
}

extension Data {
    fileprivate func lengthPrefixed(by bytes: Int) -> Data {
        Data((0..<bytes).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }) + self
    }
}
