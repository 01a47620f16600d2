import Certificates
import Foundation
import KeychainServices
import TestSupport
import Testing

/// DER that nobody vouches for: certificates, names, and keys in every form that is read.
struct FuzzCertificates {
    private let authority: CertificateAuthority
    private let root: SecCertificate
    private let intermediate: SecCertificate

    init() throws {
        authority = try CertificateAuthority.shared.get()
        root = try authority.certificate("root")
        intermediate = try authority.certificate("intermediate")
    }

    private func samples() throws -> [Data] {
        let certificates = ["root", "intermediate", "server", "client", "short-key", "critical"]
        var samples = try certificates.map(authority.der)
        for name in ["server", "short-key"] {
            for command in [
                ["req", "-new", "-key", "\(name).key", "-subj", "/CN=\(name)"],
                ["pkcs8", "-topk8", "-nocrypt", "-in", "\(name).key"],
                ["pkey", "-in", "\(name).key", "-pubout"], ["pkey", "-in", "\(name).key", "-traditional"],
            ] {
                samples.append(try authority.output(command))
            }
        }
        for curve in ["P-224", "P-384", "P-521"] {
            let options = ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(curve)"]
            samples.append(try authority.output(options))
        }
        samples.append(try authority.output(["rsa", "-in", "short-key.key", "-RSAPublicKey_out"]))
        return samples
    }

    @Test func fuzzDER() throws {
        let samples = try samples()
        let originals = Set(samples)
        var run = FuzzRun("der", samples: samples, plain: 2_000, soak: 50_000)
        let report = try run.run { input in
            let isCertificate = try readCertificate(input, isOriginal: originals.contains(input))
            let isKey = try readKey(input)
            if let name = try? DistinguishedName(der: input) {
                _ = (name.summary, try DistinguishedName(der: name.normalizedSequence))
            }
            return isCertificate || isKey
        }
        // All but the two requests, which are written and never read.
        #expect(report.accepted >= min(report.tried, samples.count - 2))
    }

    private func readCertificate(_ input: Data, isOriginal: Bool) throws -> Bool {
        let read = try? Certificate(der: input)
        let certificate = SecCertificateCreateWithData(nil, input as NSData)
        guard (read != nil) == (certificate != nil) else { throw FuzzFinding("two answers to one certificate") }
        guard let read, let certificate else { return false }
        guard read.encoded == input, SecCertificateCopyData(certificate) as Data == input else {
            throw FuzzFinding("a certificate that is not what was read")
        }
        let normal = read.subject.normalizedSequence
        guard try DistinguishedName(der: normal).normalizedSequence == normal else {
            throw FuzzFinding("a name whose normal form has another")
        }
        _ = (read.subjectSummary, read.publicKey.key?.applicationLabel, read.emailAddresses, read.commonNames)
        _ = (SecCertificateCopyKey(certificate), SecCertificateCopySubjectSummary(certificate))
        var trust: SecTrust?
        let policy = SecPolicyCreateSSL(true, "example.com")
        guard SecTrustCreateWithCertificates([certificate, intermediate] as NSArray, policy, &trust) == errSecSuccess,
            let trust
        else { throw FuzzFinding("no trust object") }
        guard SecTrustSetAnchorCertificates(trust, [root]) == errSecSuccess else { throw FuzzFinding("no anchors") }
        if SecTrustEvaluateWithError(trust, nil), !isOriginal { throw FuzzFinding("a changed certificate is trusted") }
        return true
    }

    private func readKey(_ input: Data) throws -> Bool {
        var keys = [try? KeyData(privateKeyInfo: input), try? KeyData(sec1: input), try? PublicKeyInfo(der: input).key]
        for type in [KeyData.KeyType.rsa, .ellipticCurve] {
            for keyClass in [KeyData.KeyClass.public, .private] {
                keys.append(try? KeyData(input, type: type, keyClass: keyClass))
            }
        }
        let read = keys.compactMap { $0 }
        for key in read {
            guard try KeyData(key.externalRepresentation, type: key.type, keyClass: key.keyClass) == key else {
                throw FuzzFinding("a key that does not come back")
            }
            _ = (try key.subjectPublicKeyInfo(), key.applicationLabel)
            if let info = try key.privateKeyInfo(), try KeyData(privateKeyInfo: info) != key {
                throw FuzzFinding("a private key that does not come back")
            }
        }
        return !read.isEmpty
    }
}

/// PKCS#12 files that nobody vouches for, most of them without the code that would show that they were changed.
struct FuzzExchangeFiles {
    @Test func fuzzPKCS12() throws {
        let authority = try CertificateAuthority.shared.get()
        // `-iter` after `-nomac` would bring the code back.
        let plain = ["-nomac", "-keypbe", "NONE", "-certpbe", "NONE"]
        let samples = try [
            plain, plain, plain, ["-nomac"], ["-nomac", "-keypbe", "PBE-SHA1-3DES", "-certpbe", "NONE"],
            ["-nomac", "-keypbe", "NONE", "-certpbe", "AES-128-CBC"], [], ["-legacy"],
        ].enumerated().map { number, options in
            try authority.exchangeFile(
                number == 1 ? "short-key" : "server", with: number == 2 ? ["intermediate", "root"] : ["intermediate"],
                passphrase: "p", ["-iter", "1", "-name", "name"] + options)
        }
        var run = FuzzRun("pkcs12", samples: samples, plain: 500, soak: 20_000)
        let report = try run.run { input in
            var items: CFArray?
            let status = SecPKCS12Import(input as NSData, [kSecImportExportPassphrase: "p"], &items)
            guard (status == errSecSuccess) == (items != nil) else { throw FuzzFinding("status \(status) with items") }
            for item in items as? [[String: Any]] ?? [] {
                guard let found = item[kSecImportItemIdentity.description] else { continue }
                guard let identity = found as? SecIdentity else { throw FuzzFinding("no identity") }
                var (certificate, key): (SecCertificate?, SecKey?)
                guard SecIdentityCopyCertificate(identity, &certificate) == errSecSuccess,
                    SecIdentityCopyPrivateKey(identity, &key) == errSecSuccess,
                    let certificate, let publicKey = key.flatMap(SecKeyCopyPublicKey)
                else { throw FuzzFinding("half an identity") }
                // The bits of the key decide; what stands beside them may make it a key of no known kind.
                if let other = SecCertificateCopyKey(certificate), other != publicKey {
                    throw FuzzFinding("an identity of two keys")
                }
            }
            return status == errSecSuccess
        }
        #expect(report.accepted >= min(report.tried, samples.count))
    }
}

extension CertificateAuthority {
    /// What a command of `openssl` writes as DER.
    fileprivate func output(_ command: [String]) throws -> Data {
        try openssl(command + ["-outform", "DER", "-out", "fuzz.der"])
        return try read("fuzz.der")
    }
}
