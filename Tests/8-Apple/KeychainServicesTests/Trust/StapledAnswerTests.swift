import Foundation
import KeychainServices
import OnlineChecks
import OpenSSLCertificates
import TestSupport
import Testing

/// Answers of OCSP responders that a program has, made by OpenSSL's program.
@Suite struct StapledAnswerTests {
    private let authority: CertificateAuthority

    init() throws {
        authority = try CertificateAuthority()
        try authority.make("leaf", by: "root", extensions: CertificateAuthority.server)
    }

    private static let required = [
        SecPolicyCreateSSL(true, "example.com"),
        SecPolicyCreateRevocation(
            kSecRevocationOCSPMethod | kSecRevocationRequirePositiveResponse | kSecRevocationNetworkAccessDisabled),
    ].compactMap { $0 }

    /// The status with an answer: by the TLS policy alone, and by one that requires a positive answer.
    private func statuses(_ responses: CFTypeRef?) throws -> [OSStatus] {
        try [[SecPolicyCreateSSL(true, "example.com")], Self.required].map { policies in
            let trust = try authority.trust(["leaf"], policies)
            #expect(SecTrustSetOCSPResponse(trust, responses) == errSecSuccess)
            return status(of: trust)
        }
    }

    private let useless = [errSecSuccess, errSecIncompleteCertRevocationCheck]

    @Test func withoutAnAnswerOnlyAPolicyThatRequiresOneFails() throws {
        #expect(try statuses(nil) == useless)
        #expect(try statuses(NSArray()) == useless)
    }

    @Test func aGoodAnswerIsEnough() throws {
        try authority.list(good: ["leaf"])
        let response = try authority.response(about: "leaf")
        #expect(try statuses(response as NSData) == [errSecSuccess, errSecSuccess])
        #expect(try statuses([Data([1]), response] as NSArray) == [errSecSuccess, errSecSuccess])
    }

    @Test func theResultSaysThatRevocationWasCheckedAndUntilWhen() throws {
        try authority.list(good: ["leaf"])
        let trust = try authority.trust(["leaf"], Self.required)
        #expect(SecTrustCopyResult(trust)?[kSecTrustRevocationChecked] == nil)
        let response = try authority.response(about: "leaf", ["-ndays", "2"])
        #expect(SecTrustSetOCSPResponse(trust, response as NSData) == errSecSuccess)
        let result = try #require(SecTrustCopyResult(trust))
        #expect(result[kSecTrustRevocationChecked] as? NSNumber == true)
        let end = try #require(result[kSecTrustRevocationValidUntilDate] as? Date)
        #expect(abs(end.timeIntervalSinceNow - 2 * 86_400) < 3_600)
    }

    @Test func aRevokedCertificateIsNotTrustedByAnyPolicy() throws {
        try authority.list(revoked: ["leaf"])
        let response = try authority.response(about: "leaf")
        #expect(try statuses(response as NSData) == [errSecCertificateRevoked, errSecCertificateRevoked])
        let trust = try authority.trust(["leaf"])
        #expect(SecTrustSetOCSPResponse(trust, response as NSData) == errSecSuccess)
        var result = SecTrustResultType.invalid
        #expect(SecTrustEvaluate(trust, &result) == errSecSuccess && result == .fatalTrustFailure)
        // Nothing makes up for that.
        #expect(SecTrustSetExceptions(trust, SecTrustCopyExceptions(trust)))
        #expect(status(of: trust) == errSecCertificateRevoked)
        // Another answer is another question.
        #expect(SecTrustSetOCSPResponse(trust, nil) == errSecSuccess)
        #expect(status(of: trust) == errSecSuccess)
    }

    @Test func aResponderThatDoesNotKnowTheCertificateSaysNothing() throws {
        #expect(try statuses(try authority.response(about: "leaf") as NSData) == useless)
    }

    @Test(arguments: ["-sha1", "-sha224", "-sha256", "-sha384", "-sha512"])
    func theIdentifierMayHaveAnyDigest(digest: String) throws {
        try authority.list(revoked: ["leaf"])
        let response = try authority.response(about: "leaf", digest: digest)
        #expect(try statuses(response as NSData) == [errSecCertificateRevoked, errSecCertificateRevoked])
    }

    @Test func anAnswerForAnotherCertificateSaysNothing() throws {
        try authority.make("other", by: "root", extensions: CertificateAuthority.server)
        try authority.list(revoked: ["other"])
        #expect(try statuses(try authority.response(about: "other") as NSData) == useless)
    }

    @Test func anAuthorityMayNameAResponder() throws {
        try authority.make("responder", by: "root", extensions: CertificateAuthority.responder)
        try authority.list(revoked: ["leaf"])
        for options in [["-ndays", "1"], ["-ndays", "1", "-resp_key_id"]] {
            let response = try authority.response(about: "leaf", signer: "responder", options)
            #expect(try statuses(response as NSData) == [errSecCertificateRevoked, errSecCertificateRevoked])
        }
    }

    @Test func othersMayNotSign() throws {
        // Of the authority, but for something else.
        try authority.make("server", by: "root", extensions: CertificateAuthority.server)
        // A responder of somebody else with the authority's name, and of an authority below.
        try authority.make("stranger", extensions: CertificateAuthority.authority, subject: "/CN=root")
        try authority.make("strange-responder", by: "stranger", extensions: CertificateAuthority.responder)
        try authority.make("below", by: "root", extensions: CertificateAuthority.authority)
        try authority.make("responder-below", by: "below", extensions: CertificateAuthority.responder)
        try authority.list(revoked: ["leaf"])
        for signer in ["server", "stranger", "strange-responder", "below", "responder-below", "leaf"] {
            #expect(
                try statuses(try authority.response(about: "leaf", signer: signer) as NSData) == useless, "\(signer)")
        }
    }

    @Test func aForgedAnswerSaysNothing() throws {
        try authority.list(good: ["leaf"])
        let response = try authority.response(about: "leaf")
        var changed = try authority.response(about: "leaf", ["-ndays", "1", "-resp_no_certs"])
        changed[changed.count - 3] ^= 1
        #expect(try statuses(changed as NSData) == useless)
        #expect(try statuses(response.dropLast() as NSData) == useless)
        #expect(try statuses((response + [0]) as NSData) == useless)
    }

    /// The reason for which an answer is refused some days from now.
    private func refusal(_ response: Data, days: Double) throws -> OCSPAnswer.Refusal? {
        do {
            _ = try OCSPAnswer(
                response, certificate: authority.der("leaf"), issuer: authority.der("root"),
                now: Date() + days * 86_400)
            return nil
        } catch let refusal as OCSPAnswer.Refusal {
            return refusal
        }
    }

    @Test func aGoodAnswerIsValidUntilItsEnd() throws {
        try authority.list(good: ["leaf"])
        let response = try authority.response(about: "leaf", ["-ndays", "4"])
        #expect(try refusal(response, days: 0) == nil)
        #expect(try refusal(response, days: 4) == nil)
        // Clocks may differ by 75 minutes.
        #expect(try refusal(response, days: 4.04) == nil)
        #expect(try refusal(response, days: 4.06) == .expired)
        // By then the authority itself has ended.
        #expect(try refusal(response, days: 40) == .untrusted)
        // Without an end it is valid for a day.
        let endless = try authority.response(about: "leaf", [])
        #expect(try refusal(endless, days: 1) == nil)
        #expect(try refusal(endless, days: 1.06) == .expired)
    }

    @Test func anAnswerFromTheFutureSaysNothing() throws {
        try authority.makeOldRoot()
        try authority.make("leaf", by: "root", extensions: CertificateAuthority.server)
        try authority.list(good: ["leaf"])
        let response = try authority.response(about: "leaf")
        #expect(try refusal(response, days: -0.04) == nil)
        #expect(try refusal(response, days: -0.06) == .notYetValid)
    }

    @Test func whoIsRevokedStaysRevoked() throws {
        try authority.list(revoked: ["leaf"])
        let response = try authority.response(about: "leaf")
        for days in [0.0, 3, 40] {
            let answer = try OCSPAnswer(
                response, certificate: authority.der("leaf"), issuer: authority.der("root"),
                now: Date() + days * 86_400)
            #expect(answer.status == .revoked)
            #expect(answer.isCurrent == (days < 1))
        }
    }

    @Test func refusalsSayWhy() throws {
        try authority.list(good: ["leaf"])
        let response = try authority.response(about: "leaf")
        #expect(try refusal(response.dropLast(), days: 0) == .malformed)
        #expect(try refusal(Data(), days: 0) == .malformed)
        #expect(try refusal(Data(repeating: 0x30, count: OCSPAnswer.largest + 1), days: 0) == .malformed)
        // tryLater
        #expect(try refusal(Data([0x30, 3, 0x0A, 1, 3]), days: 0) == .unsuccessful(3))
        try authority.list()
        #expect(try refusal(authority.response(about: "leaf"), days: 0) == .unknown)
        let trust = try authority.trust(["leaf"], Self.required)
        #expect(SecTrustSetOCSPResponse(trust, Data([0x30, 3, 0x0A, 1, 3]) as NSData) == errSecSuccess)
        var error: CFError?
        #expect(!SecTrustEvaluateWithError(trust, &error))
        #expect(error?.localizedDescription.contains("(the responder does not answer (status 3))") == true)
    }

    @Test func theNewestAnswerCounts() throws {
        try authority.list(good: ["leaf"])
        let good = try authority.response(about: "leaf")
        try authority.list(revoked: ["leaf"])
        // The times of answers have whole seconds.
        var revoked = try authority.response(about: "leaf")
        try eventually("another second") {
            revoked = try authority.response(about: "leaf")
            let times = try [good, revoked].map { response in
                try OCSPAnswer(
                    response, certificate: authority.der("leaf"), issuer: authority.der("root"), now: Date()
                ).thisUpdate
            }
            return times[0] < times[1]
        }
        for responses in [[good, revoked], [revoked, good]] {
            #expect(try statuses(responses as NSArray) == [errSecCertificateRevoked, errSecCertificateRevoked])
        }
    }

    @Test func anAuthorityThatIsRevokedIsAvoided() throws {
        try authority.make("first", by: "root", extensions: CertificateAuthority.authority, subject: "/CN=authority")
        try authority.make("below", by: "first", extensions: CertificateAuthority.server)
        try authority.list(revoked: ["first"])
        let revoked = try authority.response(about: "first")
        let trust = try authority.trust(["below", "first"])
        #expect(SecTrustSetOCSPResponse(trust, revoked as NSData) == errSecSuccess)
        #expect(status(of: trust) == errSecCertificateRevoked)
        #expect(SecTrustGetCertificateCount(trust) == 3)
        // The same authority has another certificate.
        try FileManager.default.copyItem(atPath: authority.path("first.key"), toPath: authority.path("second.key"))
        try authority.make("second", by: "root", extensions: CertificateAuthority.authority, subject: "/CN=authority")
        let other = try authority.trust(["below", "first", "second"])
        #expect(SecTrustSetOCSPResponse(other, revoked as NSData) == errSecSuccess)
        #expect(status(of: other) == errSecSuccess)
        #expect(SecTrustGetCertificateAtIndex(other, 1) == (try authority.certificate("second")))
    }

    @Test func exceptionsMakeUpForAMissingAnswer() throws {
        let trust = try authority.trust(["leaf"], Self.required)
        #expect(status(of: trust) == errSecIncompleteCertRevocationCheck)
        var result = SecTrustResultType.invalid
        #expect(SecTrustEvaluate(trust, &result) == errSecSuccess && result == .recoverableTrustFailure)
        #expect(SecTrustSetExceptions(trust, SecTrustCopyExceptions(trust)))
        #expect(status(of: trust) == errSecSuccess)
        // They hide no answer that comes later.
        try authority.list(revoked: ["leaf"])
        #expect(SecTrustSetOCSPResponse(trust, try authority.response(about: "leaf") as NSData) == errSecSuccess)
        #expect(status(of: trust) == errSecCertificateRevoked)
    }

    @Test func wrongArguments() throws {
        let trust = try authority.trust(["leaf"])
        #expect(SecTrustSetOCSPResponse(trust, "text" as NSString) == errSecParam)
        #expect(SecTrustSetOCSPResponse(trust, ["text"] as NSArray) == errSecParam)
        #expect(SecTrustSetSignedCertificateTimestamps(trust, ["text"] as NSArray) == errSecParam)
        #expect(SecTrustSetSignedCertificateTimestamps(trust, [Data([1])] as NSArray) == errSecSuccess)
        #expect(SecTrustSetSignedCertificateTimestamps(trust, nil) == errSecSuccess)
        #expect(SecPolicyCreateRevocation(0) == nil)
        #expect(SecPolicyCreateRevocation(1 << 7) == nil)
        #expect(SecPolicyCreateRevocation(1 << 7 | 1) == nil)
        let any = SecPolicyCreateRevocation(kSecRevocationUseAnyAvailableMethod)
        #expect(SecPolicyCreateWithProperties(kSecPolicyAppleRevocation, nil) == any)
        #expect(
            SecPolicyCreateWithProperties(kSecPolicyAppleRevocation, ["SecPolicyRevocationFlags": 1])
                == SecPolicyCreateRevocation(kSecRevocationOCSPMethod))
        #expect(any != SecPolicyCreateBasicX509())
        let properties = any.flatMap(SecPolicyCopyProperties)
        #expect(properties?[kSecPolicyOid] as? String == kSecPolicyAppleRevocation.description)
    }
}
