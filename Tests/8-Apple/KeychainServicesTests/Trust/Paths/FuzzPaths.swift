import Certificates
import Foundation
import KeychainServices
import TestSupport
import Testing

/// Broken certificates in every place of a path.
struct FuzzPaths {
    private let samples: [Data]
    private let leaf: SecCertificate
    private let middle: SecCertificate
    private let root: SecCertificate

    init() throws {
        let verdicts = try PathVerdicts.shared.get()
        let entry = try #require(PathTable.cases.first)
        func certificate(_ name: String) throws -> SecCertificate {
            try #require(SecCertificateCreateWithData(nil, verdicts.der(name, of: entry) as NSData))
        }
        (leaf, middle, root) = try (certificate("leaf"), certificate("middle"), certificate("root"))
        samples = verdicts.all
    }

    /// Whatever is changed in certificates, none crashes the process, and none is trusted for what it does not say.
    @Test func fuzzPath() throws {
        let originals = Set(samples)
        var run = FuzzRun("path", samples: samples, plain: 2_000, soak: 100_000)
        let report = try run.run { input in
            guard let certificate = SecCertificateCreateWithData(nil, input as NSData) else {
                guard (try? Certificate(der: input)) == nil else { throw FuzzFinding("two answers to one certificate") }
                return false
            }
            try read(certificate, input)
            let isOriginal = originals.contains(input)
            let places: [(String, [SecCertificate], SecCertificate)] = [
                ("leaf", [certificate, middle], root), ("authority", [leaf, certificate], root),
                ("namesake", [leaf, certificate, middle], root), ("anchor", [leaf, middle], certificate),
            ]
            // One of them for each input, always the same.
            let place = places[Int(input.reduce(0 as UInt8, &+)) % places.count]
            let isTrusted = try evaluate(place.1, anchor: place.2)
            switch place.0 {
            case "leaf", "authority": if isTrusted, !isOriginal { throw FuzzFinding("trusted as \(place.0)") }
            // A broken certificate does not keep a path away that goes without it.
            case "namesake": if !isTrusted { throw FuzzFinding("it hides the other authority") }
            default: break
            }
            return true
        }
        #expect(report.accepted >= min(report.tried, samples.count))
        guard TestScale.isSoak else { return }
        print("fuzz path: \(report.tried) tried, \(report.accepted) read, slowest \(report.slowest)")
    }

    private func read(_ certificate: SecCertificate, _ input: Data) throws {
        guard SecCertificateCopyData(certificate) as Data == input else { throw FuzzFinding("not what was read") }
        var (name, addresses): (CFString?, CFArray?)
        _ = (
            SecCertificateCopyCommonName(certificate, &name), SecCertificateCopyEmailAddresses(certificate, &addresses)
        )
        _ = (SecCertificateCopySubjectSummary(certificate), SecCertificateCopySerialNumberData(certificate, nil))
        _ = (SecCertificateCopyNormalizedIssuerSequence(certificate), SecCertificateCopySerialNumber(certificate))
        _ = (SecCertificateCopyNormalizedSubjectSequence(certificate), SecCertificateCopyPublicKey(certificate))
        _ = (SecCertificateCopyNotValidBeforeDate(certificate), SecCertificateCopyNotValidAfterDate(certificate))
        _ = (
            SecCertificateCopyKey(certificate).flatMap(SecKeyCopyAttributes), "\(certificate)", certificate.hashValue
        )
    }

    private func evaluate(_ given: [SecCertificate], anchor: SecCertificate) throws -> Bool {
        var created: SecTrust?
        let policy = SecPolicyCreateSSL(true, "example.com")
        guard SecTrustCreateWithCertificates(given as NSArray, policy, &created) == errSecSuccess, let created,
            SecTrustSetAnchorCertificates(created, [anchor] as NSArray) == errSecSuccess,
            SecTrustSetVerifyDate(created, PathTable.date as CFDate) == errSecSuccess
        else { throw FuzzFinding("no trust object") }
        var error: CFError?
        let isTrusted = SecTrustEvaluateWithError(created, &error)
        guard isTrusted == (error == nil) else { throw FuzzFinding("an error and trust") }
        guard SecTrustGetCertificateAtIndex(created, 0) == given[0] else { throw FuzzFinding("another certificate") }
        return isTrusted
    }
}
