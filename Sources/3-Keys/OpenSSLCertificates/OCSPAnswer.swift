import FoundationEssentials

/// What a responder says about one certificate, after its signature was checked (RFC 6960, 4.2).
package struct OCSPAnswer: Equatable, Sendable {
    package enum Status: Equatable, Sendable {
        case good
        case revoked
    }

    package let status: Status
    /// When the responder knew this.
    package let thisUpdate: Date
    /// Until when it holds.
    package let end: Date
    /// Whether it holds at the moment of the check. Only an answer that a certificate is revoked may be older.
    package let isCurrent: Bool

    /// The reason why an answer says nothing.
    package enum Refusal: Error, Equatable, Sendable, CustomStringConvertible {
        case malformed
        /// The responder refuses to answer, with its OCSPResponseStatus.
        case unsuccessful(Int32)
        /// The responder does not know the certificate.
        case unknown
        case otherCertificate
        /// Neither the issuer of the certificate signed it, nor a responder for whom that issuer vouches.
        case untrusted
        case otherNonce
        case expired
        case notYetValid

        package var description: String {
            switch self {
            case .malformed: "the responder's answer cannot be read"
            case .unsuccessful(let status): "the responder does not answer (status \(status))"
            case .unknown: "the responder does not know the certificate"
            case .otherCertificate: "the responder's answer is for another certificate"
            case .untrusted: "the responder's answer has no valid signature"
            case .otherNonce: "the responder's answer is for another question"
            case .expired: "the responder's answer is expired"
            case .notYetValid: "the responder's answer is not valid yet"
            }
        }
    }

    /// The largest answer in bytes. Answers with the certificate of a responder have two or three thousand.
    package static let largest = 64 << 10
    /// Clocks may differ by this, in seconds: TRUST_TIME_LEEWAY (Apple, Security-61901).
    package static let leeway = 4_500.0
    /// An answer without an end is valid for this time, in seconds: kSecDefaultOCSPResponseTTL (Apple, the same).
    private static let shortest = 86_400.0

    /// Reads an answer and checks it.
    ///
    /// - Parameters:
    ///   - encoded: DER of an OCSPResponse.
    ///   - certificate: DER of the certificate in question.
    ///   - issuer: DER of its issuer, which is trusted.
    ///   - question: What was asked; nil for an answer that nobody asked for.
    ///   - now: The moment of the check.
    /// - Throws: ``Refusal``; ``LibcryptoFailure``; `SystemLibraryError` if libcrypto is missing.
    package init(
        _ encoded: Data, certificate: Data, issuer: Data, question: OCSPQuestion? = nil, now: Date
    ) throws {
        guard encoded.count <= Self.largest else { throw Refusal.malformed }
        let crypto = try LibcryptoContext.shared.get()
        let functions = try crypto.revocation.get()
        defer { crypto.clearErrors() }
        self = try crypto.asDefault(functions) {
            guard let answer = crypto.decoded(encoded, functions.decodeAnswer, functions.freeAnswer) else {
                throw Refusal.malformed
            }
            defer { functions.freeAnswer(answer) }
            let status = functions.answerStatus(answer)
            guard status == 0 else { throw Refusal.unsuccessful(status) }
            guard let basic = functions.basicAnswer(answer) else { throw Refusal.malformed }
            defer { functions.freeBasicAnswer(basic) }
            if let question, functions.compareNonces(question.object, basic) == 0 { throw Refusal.otherNonce }
            let pair = try CertificatePair(certificate, issuer, crypto)
            return try OCSPAnswer(basic, pair, now, crypto, functions)
        }
    }

    private init(
        _ basic: LibcryptoContext.Object, _ pair: CertificatePair, _ now: Date, _ crypto: LibcryptoContext,
        _ functions: RevocationFunctions
    ) throws {
        let single = try SingleAnswer(basic, pair, crypto, functions)
        // V_OCSP_CERTSTATUS_GOOD and V_OCSP_CERTSTATUS_REVOKED (openssl/ocsp.h)
        let isRevoked = single.status == 1
        guard let producedAt = crypto.date(functions.productionTime(basic), functions) else {
            throw Refusal.malformed
        }
        // A revoked certificate stays revoked, even if the responder's certificate has expired since.
        let store = try crypto.store(trusting: pair.issuer, at: isRevoked ? producedAt : now, functions)
        guard let others = crypto.stacks.make() else { throw LibcryptoFailure.memory }
        defer { crypto.stacks.free(others) }
        guard crypto.stacks.push(others, UnsafeMutableRawPointer(pair.issuer)) > 0 else {
            throw LibcryptoFailure.memory
        }
        let isSigned = withExtendedLifetime(store) {
            // OCSP_NOEXPLICIT: the signer is the issuer, or has a certificate of the issuer with id-kp-OCSPSigning.
            functions.verify(basic, others, store.object, 0x20) == 1
        }
        guard isSigned else { throw Refusal.untrusted }
        guard single.status == 0 || isRevoked else { throw Refusal.unknown }
        end = single.nextUpdate ?? single.thisUpdate.addingTimeInterval(Self.shortest)
        let isEarly = max(single.thisUpdate, producedAt) > now.addingTimeInterval(Self.leeway)
        let isLate = end < now.addingTimeInterval(-Self.leeway)
        if !isRevoked {
            if isEarly { throw Refusal.notYetValid }
            if isLate { throw Refusal.expired }
        }
        status = isRevoked ? .revoked : .good
        thisUpdate = single.thisUpdate
        isCurrent = !isEarly && !isLate
    }
}

/// A certificate and its issuer, as libcrypto's objects.
final class CertificatePair {
    let certificate: LibcryptoContext.Object
    let issuer: LibcryptoContext.Object
    private let crypto: LibcryptoContext

    /// - Throws: ``OCSPAnswer/Refusal/otherCertificate`` if one of them cannot be read.
    init(_ certificate: Data, _ issuer: Data, _ crypto: LibcryptoContext) throws(OCSPAnswer.Refusal) {
        guard let first = crypto.certificate(certificate) else { throw .otherCertificate }
        guard let second = crypto.certificate(issuer) else {
            crypto.certificates.free(first)
            throw .otherCertificate
        }
        (self.certificate, self.issuer, self.crypto) = (first, second, crypto)
    }

    deinit {
        crypto.certificates.free(certificate)
        crypto.certificates.free(issuer)
    }
}

/// The part of an answer that is about one certificate.
private struct SingleAnswer {
    let status: Int32
    let thisUpdate: Date
    let nextUpdate: Date?

    init(
        _ basic: LibcryptoContext.Object, _ pair: CertificatePair, _ crypto: LibcryptoContext,
        _ functions: RevocationFunctions
    ) throws(OCSPAnswer.Refusal) {
        // The identifier has digests, and the responder chose with which function.
        for digest in functions.digests {
            guard let identifier = functions.makeIdentifier(digest(), pair.certificate, pair.issuer) else { continue }
            defer { functions.freeIdentifier(identifier) }
            var status: Int32 = -1
            var start: LibcryptoContext.Object?
            var end: LibcryptoContext.Object?
            guard functions.findStatus(basic, identifier, &status, nil, nil, &start, &end) == 1 else { continue }
            guard let thisUpdate = crypto.date(start, functions) else { throw .malformed }
            let nextUpdate = crypto.date(end, functions)
            guard end == nil || nextUpdate != nil else { throw .malformed }
            (self.status, self.thisUpdate, self.nextUpdate) = (status, thisUpdate, nextUpdate)
            return
        }
        throw .otherCertificate
    }
}
