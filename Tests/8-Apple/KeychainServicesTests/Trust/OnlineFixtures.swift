import Foundation
import KeychainServices
import OnlineChecks
import TestSupport
import Testing

/// The policies of tests that ask servers.
enum OnlinePolicies {
    static func policies(_ flags: CFOptionFlags) -> [SecPolicy] {
        [SecPolicyCreateSSL(true, "example.com")] + [SecPolicyCreateRevocation(flags)].compactMap { $0 }
    }

    /// Asks responders; nobody has to answer.
    static var soft: [SecPolicy] { policies(kSecRevocationOCSPMethod) }
    static var required: [SecPolicy] {
        policies(kSecRevocationOCSPMethod | kSecRevocationRequirePositiveResponse)
    }
    /// Looks into revocation lists alone.
    static var lists: [SecPolicy] { policies(kSecRevocationCRLMethod) }
    static var listsRequired: [SecPolicy] {
        policies(kSecRevocationCRLMethod | kSecRevocationRequirePositiveResponse)
    }
}

extension OnlineSettings {
    /// Waits for servers that answer, however busy the machine is, and keeps nothing.
    static var patient: OnlineSettings {
        var settings = OnlineSettings()
        (settings.single, settings.total) = (Patience.duration, Patience.duration)
        return settings
    }
}

/// Something that a test lets happen, and that a server waits for.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    /// Waits until the gate is open, and leaves it open.
    func pass() {
        _ = semaphore.wait(timeout: .now() + .seconds(Patience.seconds))
        semaphore.signal()
    }
}

extension CertificateAuthority {
    /// The extensions of a server's certificate that names responders, lists, and places of its issuer.
    static func server(
        responders: [String] = [], issuers: [String] = [], lists: [String] = [], deltas: [String] = []
    ) -> [String] {
        var extensions = server
        let accesses = responders.map { "OCSP;URI:\($0)" } + issuers.map { "caIssuers;URI:\($0)" }
        if !accesses.isEmpty { extensions.append("authorityInfoAccess=" + accesses.joined(separator: ",")) }
        if !lists.isEmpty {
            extensions.append("crlDistributionPoints=" + lists.map { "URI:\($0)" }.joined(separator: ","))
        }
        if !deltas.isEmpty { extensions.append("freshestCRL=" + deltas.map { "URI:\($0)" }.joined(separator: ",")) }
        return extensions
    }

    /// The statuses of a certificate: where an answer is wished for, and where it is required.
    func statuses(
        _ names: [String] = ["leaf"], _ policies: [[SecPolicy]] = [OnlinePolicies.soft, OnlinePolicies.required],
        _ settings: OnlineSettings = .patient
    ) throws -> [OSStatus] {
        try policies.map { status(of: try trust(names, $0, settings)) }
    }

    /// Why a certificate is not trusted where an answer is required.
    func reason(_ policies: [SecPolicy] = OnlinePolicies.required, _ settings: OnlineSettings = .patient)
        throws -> String
    {
        var error: CFError?
        #expect(!SecTrustEvaluateWithError(try trust(["leaf"], policies, settings), &error))
        return error?.localizedDescription ?? ""
    }
}
