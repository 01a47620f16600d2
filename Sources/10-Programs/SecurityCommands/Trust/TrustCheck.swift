import Certificates
import FoundationEssentials
import OnlineChecks
import OpenSSLCertificates
import SwiftASN1
import TrustSettings

/// A use of certificates that `-p` names.
struct CertificateUse {
    let purpose: CertificatePath.Purpose
    let policy: UserTrust.Policy
    /// What a certificate has to be for; nil if the path decides that.
    private var uses: [ASN1ObjectIdentifier] = []
    /// Whether a certificate that does not say what it is for is for this, too.
    private var allowsUnsaid = true
    private var address: String?

    private static let codeSigning: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 3, 3]
    private static let emailProtection: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 3, 4]
    private static let timestamping: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 3, 8]
    private static let anyUse: ASN1ObjectIdentifier = [2, 5, 29, 37, 0]

    /// - Parameters:
    ///   - name: A name of ``UserTrust/Policy``.
    ///   - text: The host of the server or the mail address; nil for any.
    init?(_ name: String, text: String?, isClient: Bool) {
        guard let policy = UserTrust.Policy(rawValue: name) else { return nil }
        self.policy = policy
        switch policy {
        case .ssl, .eap, .ipSec: purpose = isClient ? .client : .server(host: text)
        default: purpose = .any
        }
        switch policy {
        case .codeSign, .swUpdate, .pkgSign: (uses, allowsUnsaid) = ([Self.codeSigning], false)
        case .smime: (uses, address) = ([Self.emailProtection], text)
        case .timestamping: (uses, allowsUnsaid) = ([Self.timestamping], false)
        default: break
        }
    }

    /// Whether the certificate says that it is for this use.
    func allows(_ certificate: Certificate) -> Bool {
        if let address, !CertificateFilter.hasEmailAddress(address, in: certificate.encoded) { return false }
        guard !uses.isEmpty else { return true }
        guard let said = certificate.path.extendedKeyUsage else { return allowsUnsaid }
        return said.contains(Self.anyUse) || !Set(said).isDisjoint(with: uses)
    }
}

/// The result of checking a certificate.
enum TrustVerdict: Equatable {
    case trusted
    /// The user's settings forbid it.
    case denied
    case wrongUse
    case failed(CertificatePath.Failure)

    /// The name of the error that macOS prints; nil if there is none.
    var name: String? {
        switch self {
        case .trusted: nil
        case .denied: "CSSMERR_APPLETP_TRUST_SETTING_DENY"
        case .wrongUse, .failed(.wrongUse): "CSSMERR_APPLETP_INVALID_EXTENDED_KEY_USAGE"
        case .failed(.expired): "CSSMERR_TP_CERT_EXPIRED"
        case .failed(.notYetValid): "CSSMERR_TP_CERT_NOT_VALID_YET"
        case .failed(.wrongHost): "CSSMERR_APPLETP_HOSTNAME_MISMATCH"
        case .failed(.revoked): "CSSMERR_TP_CERT_REVOKED"
        case .failed(.unanswered): "CSSMERR_APPLETP_INCOMPLETE_REVOCATION_CHECK"
        case .failed(.malformed): "CSSMERR_CL_UNKNOWN_FORMAT"
        case .failed(.invalidSignature): "CSSMERR_TP_VERIFICATION_FAILURE"
        case .failed: "CSSMERR_TP_NOT_TRUSTED"
        }
    }
}

/// Looks for a path from a certificate to one that the system or the user trusts.
struct TrustCheck {
    /// DER. The first is the certificate in question; the others may be part of the path.
    var certificates: [Data]
    var use: CertificateUse
    /// Further anchors. Nil for those of the system and the user alone.
    var anchors: [Data]?
    var date = Date()
    /// Whether missing issuers are fetched.
    var fetches = false
    /// How revocation is checked; none if it is empty.
    var revocation: RevocationCheck.Methods = []
    var requiresAnswer = false
    var isOffline = false

    func verdict() throws -> TrustVerdict {
        guard let first = certificates.first, let certificate = try? Certificate(der: first) else {
            return .failed(.malformed)
        }
        guard use.allows(certificate) else { return .wrongUse }
        // With anchors of its own, a check asks for nothing else.
        let trust = try anchors == nil ? UserTrust.read() : nil
        var settings = OnlineSettings()
        settings.cache = AnswerCache.standard()
        settings.allowsRequests = fetches && !isOffline
        let issuers = IssuerSearch(settings)
        var path = CertificatePath(certificates: certificates, date: date)
        path.purpose = use.purpose
        path.anchors = (anchors ?? []) + (trust?.anchors(for: use.purpose, use.policy) ?? [])
        path.trustsSystem = anchors == nil
        var outcome = try path.evaluated()
        for _ in 0..<IssuerSearch.most where settings.allowsRequests {
            guard outcome.failure == .incomplete, let last = outcome.chain.last else { break }
            let found = try issuers.issuers(of: last, otherThan: Set(path.certificates))
            guard !found.isEmpty else { break }
            path.certificates += found
            outcome = try path.evaluated()
        }
        if let trust, !trust.denied(for: use.purpose, use.policy).isDisjoint(with: outcome.chain) { return .denied }
        if let failure = outcome.failure { return .failed(failure) }
        return try revocationVerdict(of: outcome.chain, settings)
    }

    private func revocationVerdict(of chain: [Data], _ settings: OnlineSettings) throws -> TrustVerdict {
        guard !revocation.isEmpty || requiresAnswer else { return .trusted }
        var check = RevocationCheck()
        check.settings = settings
        check.settings.allowsRequests = !isOffline
        check.methods = revocation
        let statuses = try check.statuses(of: chain)
        if statuses.contains(.revoked) { return .failed(.revoked) }
        if case .good = statuses.first { return .trusted }
        return requiresAnswer ? .failed(.unanswered) : .trusted
    }
}
