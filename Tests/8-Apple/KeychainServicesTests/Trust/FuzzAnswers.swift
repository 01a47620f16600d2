import Foundation
import OpenSSLCertificates
import TestSupport
import Testing

/// Damaged answers of responders, revocation lists and files of issuers.
struct FuzzAnswers {
    private let authority: CertificateAuthority

    init() throws {
        authority = try CertificateAuthority()
        try authority.make("leaf", by: "root", extensions: CertificateAuthority.server)
        try authority.make("bad", by: "root", extensions: CertificateAuthority.server)
        try authority.list(good: ["leaf"], revoked: ["bad"])
        try authority.make("responder", by: "root", extensions: CertificateAuthority.responder)
    }

    /// Whatever is changed in answers, none says that a revoked certificate is good, or the other way.
    @Test func fuzzOCSP() throws {
        let (good, bad, root) = try (authority.der("leaf"), authority.der("bad"), authority.der("root"))
        var samples: [Data] = []
        for name in ["leaf", "bad"] {
            samples += try [
                authority.response(about: name), authority.response(about: name, signer: "responder"),
                authority.response(about: name, digest: "-sha256", ["-ndays", "1", "-resp_key_id"]),
                authority.response(about: name, ["-ndays", "1", "-resp_no_certs"]),
            ]
        }
        let now = Date()
        let question = try OCSPQuestion(certificate: good, issuer: root, nonce: .init(repeating: 1, count: 32))
        var run = FuzzRun("ocsp", samples: samples, plain: 3_000, soak: 100_000)
        let report = try run.run { input in
            var isAccepted = false
            for (certificate, status) in [(good, OCSPAnswer.Status.good), (bad, .revoked)] {
                do {
                    let answer = try OCSPAnswer(
                        input, certificate: certificate, issuer: root, question: question, now: now)
                    guard answer.status == status, answer.isCurrent else { throw FuzzFinding("it says \(answer)") }
                    isAccepted = true
                } catch is OCSPAnswer.Refusal {}
            }
            return isAccepted
        }
        #expect(report.tried == 0 || report.accepted >= samples.count)
    }

    /// Whatever is changed in lists, none says that a revoked certificate is good, or the other way.
    @Test func fuzzCRL() throws {
        let (good, bad, root) = try (authority.der("leaf"), authority.der("bad"), authority.der("root"))
        let samples = try [
            authority.revocationList(), authority.revocationList(namesKey: false),
            authority.revocationList(extensions: ["freshestCRL=URI:http://a.b/c"]),
        ]
        let now = Date()
        var run = FuzzRun("crl", samples: samples, plain: 3_000, soak: 100_000)
        let report = try run.run { input in
            _ = (try RevocationList.deltaPlaces(of: input), try RevocationList.end(of: input))
            var isAccepted = false
            for (certificate, status) in [(good, RevocationList.Status.good), (bad, .revoked)] {
                do {
                    let found = try RevocationList.status(of: certificate, issuer: root, in: [input], now: now)
                    guard found == status else { throw FuzzFinding("it says \(found)") }
                    isAccepted = true
                } catch is RevocationList.Refusal {}
            }
            return isAccepted
        }
        #expect(report.tried == 0 || report.accepted >= samples.count)
    }

    @Test func fuzzIssuers() throws {
        try authority.openssl(
            "crl2pkcs7", "-nocrl", "-certfile", "root.pem", "-certfile", "leaf.pem", "-outform", "DER", "-out",
            "both.p7c")
        let samples = try ["root.der", "root.pem", "both.p7c"].map(authority.read)
        var run = FuzzRun("issuers", samples: samples, plain: 3_000, soak: 100_000)
        let report = try run.run { input in
            let certificates = try IssuerFile.certificates(in: input)
            guard certificates.count <= 16 else { throw FuzzFinding("\(certificates.count) certificates") }
            return !certificates.isEmpty
        }
        #expect(report.tried == 0 || report.accepted >= samples.count)
    }
}
