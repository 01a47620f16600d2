import Bytes
import Certificates
import Foundation
import OnlineChecks
import OpenSSLCertificates
import Synchronization

/// A question whether a certificate can be trusted, and the answer once it was asked.
///
/// Safe to use from several threads. Any change of the question forgets the answer.
public final class SecTrust: Sendable {
    struct State {
        var certificates: [SecCertificate]
        var policies: [SecPolicy]
        /// Nil for the system's anchors alone.
        var anchors: [SecCertificate]?
        var anchorsOnly = false
        var date: Date?
        /// A digest of the chain whose failures are forgiven.
        var exceptions: Data?
        /// Nil if the program did not say whether requests may go out.
        var allowsFetch: Bool?
        /// Answers of OCSP responders.
        var responses: [Data] = []
        /// Signed certificate timestamps (RFC 6962), and the logs whose timestamps count; nil if none were named.
        var timestamps: [Data] = []
        var logs: [PublicLog]?
        /// Where answers are kept, and for how long servers are waited for.
        var online = OnlineSettings.standard
        /// What came of it; nil since the last change.
        var answer: TrustAnswer?
        /// Counts the changes of the question.
        var version = 0
    }

    let state: Mutex<State>

    init(certificates: [SecCertificate], policies: [SecPolicy]) {
        state = Mutex(State(certificates: certificates, policies: policies))
    }

    /// Changes the question.
    func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            state.answer = nil
            state.version += 1
        }
    }

    /// The answer, worked out if need be. Meanwhile other threads may read and change the question, because a server
    /// may have to be waited for.
    func answer() -> TrustAnswer {
        let question = state.withLock { $0 }
        if let answer = question.answer { return answer }
        let answer = TrustAnswer(to: question)
        state.withLock { state in
            if state.version == question.version { state.answer = answer }
        }
        return answer
    }
}

extension SecTrust: Hashable, CustomDebugStringConvertible {
    /// Whether both are the same object.
    public static func == (left: SecTrust, right: SecTrust) -> Bool { left === right }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// No part of the question.
    public var debugDescription: String { "<SecTrust>" }
}

/// What came of a question.
struct TrustAnswer {
    /// The certificate in question first.
    var chain: [SecCertificate]
    var failure: CertificatePath.Failure?
    /// More about the failure, for people.
    var detail: String?
    /// Why the question could not be worked on at all.
    var obstacle: String?
    var isForgiven = false
    /// Whether the user's settings of trust forbid a certificate of the path.
    var isDenied = false
    /// Whether the path ends with a certificate that the user trusts.
    var isTrustedByUser = false
    /// Whether somebody said of each certificate that it is not revoked, and until when that holds; nil if nobody was
    /// asked.
    var revocation: (isChecked: Bool, end: Date?)?
    /// Whether enough public logs promise to list the certificate.
    var isListed = false
    /// What was asked for, and when.
    let purposes: [CertificatePath.Purpose]
    let date: Date

    var isTrusted: Bool { !isDenied && ((failure == nil && obstacle == nil) || isForgiven) }

    init(to question: SecTrust.State) {
        chain = question.certificates.prefix(1).map { $0 }
        date = question.date ?? Date()
        let policies = question.policies.isEmpty ? [SecPolicyCreateBasicX509()] : question.policies
        let paths = policies.filter { $0.revocation == nil }
        purposes = (paths.isEmpty ? policies.prefix(1) : paths[...]).map(\.purpose)
        do {
            try TrustSearch(question, date).run(&self)
        } catch {
            obstacle = "\(error)"
            isForgiven = false
        }
    }

    /// Says what is wrong, and whether `exceptions` make up for that.
    mutating func fail(_ failure: CertificatePath.Failure, _ exceptions: Data?) {
        self.failure = failure
        isForgiven = exceptions != nil && failure.isForgivable && exceptions == self.exceptions
    }

    /// Takes down what was found about revocation on one path.
    mutating func note(_ statuses: [RevocationCheck.Status]) {
        var (isChecked, end) = revocation ?? (true, nil)
        for status in statuses {
            switch status {
            case .good(let until): end = [end, until].compactMap { $0 }.min()
            case .revoked: break
            case .unknown: isChecked = false
            }
        }
        revocation = (isChecked, end)
    }

    /// What forgives this answer, and no other one.
    var exceptions: Data { TrustExceptions.digest(of: self) }

    var result: SecTrustResultType {
        if isDenied { return .deny }
        if isForgiven { return .proceed }
        if obstacle != nil { return .otherError }
        guard let failure else { return isTrustedByUser ? .proceed : .unspecified }
        return failure.isForgivable ? .recoverableTrustFailure : .fatalTrustFailure
    }

    var error: NSError? {
        guard !isTrusted else { return nil }
        let name = chain.first?.certificate.subjectSummary ?? "without a name"
        var reason = obstacle.map { "could not be checked: \($0)" } ?? failure?.explanation ?? ""
        if obstacle == nil, let detail { reason += " (\(detail))" }
        var status = obstacle == nil ? failure?.status ?? 0 : errSecInternal
        if isDenied { (reason, status) = ("is not trusted: the user's settings forbid it", errSecTrustSettingDeny) }
        return NSError(
            domain: NSOSStatusErrorDomain, code: Int(status),
            userInfo: [NSLocalizedDescriptionKey: "“\(name)” certificate \(reason)"])
    }
}

/// What an evaluation found (Apple, SecTrust.h).
public enum SecTrustResultType: UInt32, Sendable {
    /// Not evaluated yet.
    case invalid = 0
    /// Trusted because the user said so.
    case proceed = 1
    /// The user is to be asked. Deprecated by Apple; no evaluation finds it.
    case confirm = 2
    /// Not trusted because the user said so.
    case deny = 3
    /// Trusted: nobody said anything about it.
    case unspecified = 4
    /// Not trusted, for a reason that a user may overlook.
    case recoverableTrustFailure = 5
    /// Not trusted: the certificate itself is bad.
    case fatalTrustFailure = 6
    /// The evaluation failed.
    case otherError = 7
}
