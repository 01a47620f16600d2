import Foundation
import KeychainServices
import TestSupport
import Testing

/// Whether a certificate is to be trusted, with certificates that OpenSSL's program made.
struct TrustTests {
    private let authority: CertificateAuthority

    init() throws { authority = try CertificateAuthority.shared.get() }

    private func trust(_ names: [String], _ policy: SecPolicy, anchors: [String]? = ["root"]) throws -> SecTrust {
        var trust: SecTrust?
        let certificates = try names.map(authority.certificate) as NSArray
        #expect(SecTrustCreateWithCertificates(certificates, policy, &trust) == errSecSuccess)
        let created = try #require(trust)
        if let anchors {
            let anchors = try anchors.map(authority.certificate) as NSArray
            #expect(SecTrustSetAnchorCertificates(created, anchors) == errSecSuccess)
        }
        return created
    }

    /// The status of an evaluation.
    private func evaluate(_ trust: SecTrust) -> OSStatus {
        var error: CFError?
        let isTrusted = SecTrustEvaluateWithError(trust, &error)
        #expect(isTrusted == (error == nil))
        #expect(error == nil || error?.domain == NSOSStatusErrorDomain)
        return OSStatus(error?.code ?? 0)
    }

    private func server(_ host: String?) -> SecPolicy { SecPolicyCreateSSL(true, host.map { $0 as NSString }) }

    @Test func aWholePath() throws {
        let trust = try trust(["server", "intermediate"], server("example.com"))
        var result = SecTrustResultType.otherError
        #expect(SecTrustGetTrustResult(trust, &result) == errSecSuccess && result == .invalid)
        #expect(evaluate(trust) == errSecSuccess)
        #expect(SecTrustGetTrustResult(trust, &result) == errSecSuccess && result == .unspecified)
        let chain = try #require(SecTrustCopyCertificateChain(trust) as? [SecCertificate])
        #expect(try chain == ["server", "intermediate", "root"].map(authority.certificate))
        #expect(SecTrustGetCertificateCount(trust) == 3)
        #expect(SecTrustGetCertificateAtIndex(trust, 2) == chain[2])
        #expect(SecTrustGetCertificateAtIndex(trust, 3) == nil)
        #expect(SecTrustCopyKey(trust) == SecCertificateCopyKey(chain[0]))
    }

    @Test(arguments: [
        ("example.com", errSecSuccess), ("EXAMPLE.com", errSecSuccess), ("example.com.", errSecSuccess),
        ("a.wild.example.com", errSecSuccess), ("a.b.wild.example.com", errSecHostNameMismatch),
        ("wild.example.com", errSecHostNameMismatch), ("192.0.2.7", errSecSuccess),
        ("2001:db8::7", errSecSuccess), ("[2001:db8::7]", errSecSuccess), ("192.0.2.8", errSecHostNameMismatch),
        ("evil.com", errSecHostNameMismatch), ("example.com.evil.com", errSecHostNameMismatch),
        ("server.example.com", errSecHostNameMismatch), ("", errSecHostNameMismatch),
        ("example.com\0.evil.com", errSecHostNameMismatch), (".com", errSecHostNameMismatch),
        (".wild.example.com", errSecHostNameMismatch),
    ])
    func hostNames(host: String, status: OSStatus) throws {
        #expect(evaluate(try trust(["server", "intermediate"], server(host))) == status)
    }

    @Test func anyNameWithoutAHost() throws {
        #expect(evaluate(try trust(["server", "intermediate"], server(nil))) == errSecSuccess)
    }

    /// The common name is no host name.
    @Test func commonNameAlone() throws {
        let policy = server("named-only.example.com")
        #expect(evaluate(try trust(["named-only", "intermediate"], policy)) == errSecHostNameMismatch)
    }

    @Test func use() throws {
        let chain = ["client", "intermediate"]
        #expect(evaluate(try trust(chain, SecPolicyCreateSSL(false, nil))) == errSecSuccess)
        #expect(evaluate(try trust(chain, server(nil))) == errSecInvalidExtendedKeyUsage)
        #expect(evaluate(try trust(["server", "intermediate"], SecPolicyCreateSSL(false, nil))) != errSecSuccess)
        #expect(evaluate(try trust(chain, SecPolicyCreateBasicX509())) == errSecSuccess)
    }

    @Test func dates() throws {
        let trust = try trust(["server", "intermediate"], server("example.com"))
        let day = 86_400.0
        let now = Date()
        for (days, status) in [
            (-2.0, errSecCertificateNotValidYet), (1, errSecSuccess), (29, errSecSuccess),
            (31, errSecCertificateExpired), (1e9, errSecCertificateExpired),
        ] {
            #expect(SecTrustSetVerifyDate(trust, (now + days * day) as NSDate) == errSecSuccess)
            #expect(evaluate(trust) == status)
        }
        #expect(abs(SecTrustGetVerifyTime(trust) - now.timeIntervalSinceReferenceDate - 1e9 * day) < 1)
    }

    @Test func anchors() throws {
        let policy = server("example.com")
        for anchors in [nil, [], ["other-root"]] {
            let trust = try trust(["server", "intermediate"], policy, anchors: anchors)
            #expect(evaluate(trust) == errSecCreateChainFailed)
        }
        #expect(evaluate(try trust(["server"], policy)) == errSecCreateChainFailed)
        // A root that the server sends is not trusted for that.
        #expect(evaluate(try trust(["server", "intermediate", "root"], policy, anchors: [])) == errSecNotTrusted)
        // Any certificate can be an anchor.
        #expect(evaluate(try trust(["server"], policy, anchors: ["intermediate"])) == errSecSuccess)
        #expect(evaluate(try trust(["server"], policy, anchors: ["server"])) == errSecSuccess)
        let trust = try trust(["server", "intermediate"], policy)
        #expect(SecTrustSetAnchorCertificatesOnly(trust, false) == errSecSuccess)
        #expect(evaluate(trust) == errSecSuccess)
        #expect(SecTrustSetAnchorCertificates(trust, nil) == errSecSuccess)
        #expect(evaluate(trust) == errSecCreateChainFailed)
    }

    /// Anchors that are the only ones are also that before there are any.
    @Test func noneButOnes() throws {
        // One of the system's.
        let file = try String(contentsOfFile: "/etc/ssl/certs/ca-certificates.crt", encoding: .utf8)
        let trusts = file.split(separator: "-----BEGIN CERTIFICATE-----").compactMap { part -> SecTrust? in
            var trust: SecTrust?
            let digits = part.split(separator: "-----END").first.map { String($0.filter { !$0.isWhitespace }) }
            guard let der = digits.flatMap({ Data(base64Encoded: $0) }),
                let certificate = SecCertificateCreateWithData(nil, der as NSData),
                SecTrustCreateWithCertificates(certificate, nil, &trust) == errSecSuccess
            else { return nil }
            return trust
        }
        let trust = try #require(trusts.first { evaluate($0) == errSecSuccess })
        #expect(SecTrustSetAnchorCertificatesOnly(trust, true) == errSecSuccess)
        #expect(evaluate(trust) == errSecNotTrusted)
        #expect(SecTrustSetAnchorCertificatesOnly(trust, false) == errSecSuccess)
        #expect(evaluate(trust) == errSecSuccess)
        #expect(SecTrustSetAnchorCertificates(trust, NSArray()) == errSecSuccess)
        #expect(evaluate(trust) == errSecNotTrusted)
        #expect(SecTrustSetAnchorCertificates(trust, nil) == errSecSuccess)
        #expect(evaluate(trust) == errSecSuccess)
    }

    @Test(arguments: [
        ("by-a-leaf", errSecNoBasicConstraintsCA), ("short-key", errSecUnsupportedKeySize),
        ("old-digest", errSecInvalidDigestAlgorithm), ("critical", errSecUnknownCriticalExtensionFlag),
    ])
    func badCertificates(name: String, status: OSStatus) throws {
        let trust = try trust([name, "server", "intermediate"], server("example.com"))
        #expect(evaluate(trust) == status)
    }

    @Test func aForgedSignature() throws {
        var der = try authority.der("server")
        der[der.count - 3] ^= 1
        let forged = try #require(SecCertificateCreateWithData(nil, der as NSData))
        var trust: SecTrust?
        let certificates = [forged, try authority.certificate("intermediate")] as NSArray
        #expect(SecTrustCreateWithCertificates(certificates, server("example.com"), &trust) == errSecSuccess)
        let created = try #require(trust)
        #expect(SecTrustSetAnchorCertificates(created, [try authority.certificate("root")]) == errSecSuccess)
        #expect(evaluate(created) == errSecNotSigner)
        // Nothing makes up for that.
        #expect(SecTrustSetExceptions(created, SecTrustCopyExceptions(created)))
        #expect(evaluate(created) == errSecNotSigner)
    }

    @Test func severalPolicies() throws {
        let trust = try trust(["server", "intermediate"], SecPolicyCreateBasicX509())
        let policies = [SecPolicyCreateBasicX509(), server("example.com")] as NSArray
        #expect(SecTrustSetPolicies(trust, policies) == errSecSuccess)
        #expect(evaluate(trust) == errSecSuccess)
        #expect(SecTrustSetPolicies(trust, [server("evil.com"), SecPolicyCreateBasicX509()] as NSArray) == 0)
        #expect(evaluate(trust) == errSecHostNameMismatch)
        #expect(SecTrustSetPolicies(trust, NSArray()) == errSecParam)
        #expect(SecTrustSetPolicies(trust, ["ssl"] as NSArray) == errSecParam)
    }

    @Test func resultsAsDictionaries() throws {
        let trusted = try trust(["server", "intermediate"], server("example.com"))
        #expect(SecTrustSetVerifyDate(trusted, NSDate()) == errSecSuccess)
        var result = try #require(SecTrustCopyResult(trusted) as? [String: Any])
        #expect(result[kSecTrustResultValue as String] as? UInt32 == SecTrustResultType.unspecified.rawValue)
        let date = try #require(result[kSecTrustEvaluationDate as String] as? Date)
        #expect(date.timeIntervalSinceReferenceDate == SecTrustGetVerifyTime(trusted))
        #expect(SecTrustCopyProperties(trusted) == nil)

        let other = try trust(["server", "intermediate"], server("evil.com"))
        result = try #require(SecTrustCopyResult(other) as? [String: Any])
        let failure = SecTrustResultType.recoverableTrustFailure.rawValue
        #expect(result[kSecTrustResultValue as String] as? UInt32 == failure)
        let properties = try #require(SecTrustCopyProperties(other) as? [[String: String]])
        let property = try #require(properties.first)
        var error: CFError?
        #expect(!SecTrustEvaluateWithError(other, &error))
        #expect(property[kSecPropertyTypeError as String] == error?.localizedDescription)
        #expect(property["type"] == kSecPropertyTypeError as String)
        #expect(property["value"] == error?.localizedDescription)
        #expect(
            property[kSecPropertyTypeTitle as String]
                == SecCertificateCopySubjectSummary(try authority.certificate("server")) as String?)
        #expect(properties.count == 1)
    }

    /// Policies by their names, those for one side of a connection and those that nobody checks here.
    @Test func policiesByTheirNames() throws {
        let named = SecPolicyCreateWithProperties(
            kSecPolicyAppleSSLServer, [kSecPolicyName: "example.com", kSecPolicyClient: true])
        #expect(named == server("example.com"))
        #expect(SecPolicyCreateWithProperties(kSecPolicyAppleSSLClient, nil) == SecPolicyCreateSSL(false, nil))
        let others = [
            kSecPolicyAppleSMIME, kSecPolicyAppleEAP, kSecPolicyAppleEAPServer, kSecPolicyAppleEAPClient,
            kSecPolicyAppleIPsec, kSecPolicyAppleIPSecServer, kSecPolicyAppleIPSecClient, kSecPolicyAppleCodeSigning,
            kSecPolicyAppleIDValidation, kSecPolicyMacAppStoreReceipt, kSecPolicyAppleTimeStamping,
            kSecPolicyApplePassbookSigning, kSecPolicyApplePayIssuerEncryption,
        ]
        for other in others { #expect(SecPolicyCreateWithProperties(other, nil) == nil, "\(other)") }
    }

    @Test func exceptions() throws {
        let trust = try trust(["server", "intermediate"], server("evil.com"))
        #expect(evaluate(trust) == errSecHostNameMismatch)
        var result = SecTrustResultType.invalid
        #expect(SecTrustEvaluate(trust, &result) == errSecSuccess && result == .recoverableTrustFailure)
        let exceptions = SecTrustCopyExceptions(trust)
        #expect(SecTrustSetExceptions(trust, exceptions))
        #expect(evaluate(trust) == errSecSuccess)
        #expect(SecTrustEvaluate(trust, &result) == errSecSuccess && result == .proceed)
        let other = try self.trust(["client", "intermediate"], server("evil.com"))
        #expect(!SecTrustSetExceptions(other, exceptions))
        #expect(evaluate(other) != errSecSuccess)
        #expect(!SecTrustSetExceptions(trust, nil))
        #expect(evaluate(trust) == errSecHostNameMismatch)
    }

    /// What was overlooked once is not everything.
    @Test func exceptionsAreForWhatWasSeen() throws {
        // Nobody knows the root: this failure hides that the name is wrong, or that it is no longer valid.
        let seen = try trust(["server", "intermediate", "root"], server("example.com"), anchors: [])
        let exceptions = SecTrustCopyExceptions(seen)
        #expect(SecTrustSetExceptions(seen, exceptions))
        #expect(evaluate(seen) == errSecSuccess)
        let elsewhere = try trust(["server", "intermediate", "root"], server("evil.com"), anchors: [])
        #expect(!SecTrustSetExceptions(elsewhere, exceptions))
        #expect(evaluate(elsewhere) == errSecNotTrusted)
        #expect(SecTrustSetVerifyDate(seen, NSDate(timeIntervalSinceNow: 1e10)) == errSecSuccess)
        #expect(evaluate(seen) != errSecSuccess)
        // What was in order has nothing to be overlooked.
        let good = try trust(["server", "intermediate"], server("example.com"))
        let nothing = SecTrustCopyExceptions(good)
        #expect(SecTrustSetAnchorCertificates(good, NSArray()) == errSecSuccess)
        #expect(!SecTrustSetExceptions(good, nothing))
        #expect(evaluate(good) == errSecCreateChainFailed)
    }

    @Test func wrongArguments() throws {
        var trust: SecTrust?
        #expect(SecTrustCreateWithCertificates(NSArray(), nil, &trust) == errSecParam)
        #expect(SecTrustCreateWithCertificates("x" as NSString, nil, &trust) == errSecParam)
        #expect(SecTrustCreateWithCertificates(try authority.certificate("root"), NSNull(), &trust) == errSecParam)
        #expect(trust == nil)
        #expect(SecTrustCreateWithCertificates(try authority.certificate("root"), nil, &trust) == errSecSuccess)
        #expect(SecPolicyCreateWithProperties("1.2.3" as NSString, nil) == nil)
        let policy = SecPolicyCreateWithProperties(kSecPolicyAppleSSL, [kSecPolicyName: "a.b"])
        #expect(policy == SecPolicyCreateSSL(true, "a.b"))
        #expect(SecPolicyCopyProperties(SecPolicyCreateSSL(true, "a.b"))?[kSecPolicyName] as? String == "a.b")
    }

    @Test func onAQueue() async throws {
        let trust = try trust(["server", "intermediate"], server("example.com"))
        let isTrusted = await withCheckedContinuation { continuation in
            let queue = DispatchQueue(label: "test")
            _ = SecTrustEvaluateAsyncWithError(trust, queue) { _, isTrusted, error in
                continuation.resume(returning: isTrusted && error == nil)
            }
        }
        #expect(isTrusted)
    }
}
