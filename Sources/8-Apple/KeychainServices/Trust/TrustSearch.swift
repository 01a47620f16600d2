import Certificates
import Foundation
import OnlineChecks
import OpenSSLCertificates
import TrustSettings

/// Looks for a path that fulfils all policies and has no revoked certificate.
struct TrustSearch {
    private let question: SecTrust.State
    private let date: Date
    private let check: RevocationCheck
    private let requiresAnswer: Bool
    private let issuers: IssuerSearch
    /// Nil if only the program's own anchors count.
    private let userTrust: UserTrust?

    /// How often the search begins again without an authority that is revoked.
    private static let mostRevoked = 8

    /// - Throws: If the user has settings of trust that cannot be read.
    init(_ question: SecTrust.State, _ date: Date) throws {
        userTrust = question.anchorsOnly ? nil : try UserTrust.read()
        (self.question, self.date) = (question, date)
        let flags = question.policies.compactMap(\.revocation).reduce(0, |)
        let asksForRevocation = question.policies.contains { $0.revocation != nil }
        // One setting that forbids requests counts more than all that allow them. A policy for revocation allows
        // requests about revocation and no others.
        let isForbidden = flags & kSecRevocationNetworkAccessDisabled != 0 || question.allowsFetch == false
        var settings = question.online
        settings.allowsRequests = !isForbidden && question.allowsFetch == true
        issuers = IssuerSearch(settings)
        settings.allowsRequests = !isForbidden && asksForRevocation
        var check = RevocationCheck()
        check.settings = settings
        check.given = question.responses
        check.methods = Self.methods(flags)
        self.check = check
        requiresAnswer = flags & kSecRevocationRequirePositiveResponse != 0
    }

    private static func methods(_ flags: CFOptionFlags) -> RevocationCheck.Methods {
        var methods: RevocationCheck.Methods = []
        if flags & kSecRevocationOCSPMethod != 0 { methods.insert(.responders) }
        if flags & kSecRevocationCRLMethod != 0 { methods.insert(.lists) }
        // kSecRevocationOnlineCheck and kSecRevocationCheckIfTrusted ask by any method (SecPolicy.c; Apple,
        // Security-61901).
        if methods.isEmpty, flags & (1 << 5 | 1 << 6) != 0 { methods = [.responders, .lists] }
        if flags & kSecRevocationPreferCRL != 0 { methods.insert(.listsFirst) }
        return methods
    }

    /// Fills in the path and what is wrong with it.
    ///
    /// - Throws: An error if libcrypto is missing or has no memory.
    func run(_ answer: inout TrustAnswer) throws {
        var certificates = question.certificates.map(\.certificate.encoded)
        var useless: Set<Data> = []
        var first: TrustAnswer?
        for _ in 0...Self.mostRevoked {
            var attempt = answer
            let chains = try findPaths(&certificates, useless, &attempt)
            if attempt.isTrusted { checkTransparency(of: chains, &attempt) }
            let bad = attempt.isTrusted ? try checkRevocation(of: chains, &attempt) : nil
            // Only a path that is in order is better than the one with a revoked authority.
            first = attempt.isTrusted ? attempt : first ?? attempt
            guard let bad, bad != certificates.first, certificates.contains(bad) else { break }
            useless.insert(bad)
            certificates.removeAll { $0 == bad }
        }
        answer = first ?? answer
    }

    /// Looks for a path for each purpose, and stops at the first that has none.
    ///
    /// - Parameters:
    ///   - certificates: The certificate in question first. Those that were fetched are added.
    ///   - useless: Certificates that are not to be fetched.
    /// - Returns: The paths, without repetition.
    private func findPaths(
        _ certificates: inout [Data], _ useless: Set<Data>, _ answer: inout TrustAnswer
    ) throws -> [[Data]] {
        var chains: [[Data]] = []
        for purpose in answer.purposes {
            var path = CertificatePath(certificates: certificates, date: date)
            path.anchors = question.anchors?.map(\.certificate.encoded) ?? []
            let usersAnchors = userTrust?.anchors(for: purpose) ?? []
            path.anchors += usersAnchors
            path.trustsSystem = !question.anchorsOnly
            path.purpose = purpose
            var outcome = try path.evaluated()
            for _ in 0..<IssuerSearch.most {
                guard outcome.failure == .incomplete, let last = outcome.chain.last else { break }
                let found = try issuers.issuers(of: last, otherThan: useless.union(certificates))
                guard !found.isEmpty else { break }
                certificates += found
                path.certificates = certificates
                outcome = try path.evaluated()
            }
            answer.chain = outcome.chain.compactMap(SecCertificate.init(der:))
            answer.isDenied = userTrust.map { !$0.denied(for: purpose).isDisjoint(with: outcome.chain) } ?? false
            if answer.isDenied { break }
            answer.isTrustedByUser = outcome.failure == nil && outcome.chain.last.map(usersAnchors.contains) ?? false
            if !chains.contains(outcome.chain) { chains.append(outcome.chain) }
            if let failure = outcome.failure {
                answer.fail(failure, question.exceptions)
                break
            }
        }
        return chains
    }

    /// Looks whether public logs list the certificate, if the program named logs and a TLS server is asked about.
    private func checkTransparency(of chains: [[Data]], _ answer: inout TrustAnswer) {
        let isForServer = answer.purposes.contains { if case .server = $0 { true } else { false } }
        guard let logs = question.logs, isForServer else { return }
        let check = TransparencyCheck(logs: logs, given: question.timestamps, date: date)
        let usersAnchors = answer.purposes.flatMap { userTrust?.anchors(for: $0) ?? [] }
        let anchors = Set((question.anchors?.map(\.certificate.encoded) ?? []) + usersAnchors)
        for chain in chains {
            let certificates = chain.compactMap { try? Certificate(der: $0) }
            answer.isListed = check.isListed(certificates)
            guard !answer.isListed, let leaf = certificates.first, let anchor = chain.last, !anchors.contains(anchor),
                check.isNeeded(for: leaf)
            else { continue }
            answer.fail(.unlisted, question.exceptions)
            return
        }
    }

    /// - Returns: A certificate that is revoked.
    private func checkRevocation(of chains: [[Data]], _ answer: inout TrustAnswer) throws -> Data? {
        guard !check.given.isEmpty || !check.methods.isEmpty || requiresAnswer else { return nil }
        for chain in chains {
            let statuses = try check.statuses(of: chain)
            answer.note(statuses)
            if let index = statuses.firstIndex(of: .revoked) {
                answer.fail(.revoked, question.exceptions)
                return chain[index]
            }
            // Apple's systems require an answer about the certificate in question alone.
            if case .good = statuses.first { continue }
            guard requiresAnswer else { continue }
            if case .unknown(let reason) = statuses.first { answer.detail = reason }
            answer.fail(.unanswered, question.exceptions)
        }
        return nil
    }
}
