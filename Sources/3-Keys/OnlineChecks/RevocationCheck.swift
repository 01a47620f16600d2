import Bytes
import Certificates
import FoundationEssentials
import OpenSSLCertificates
import SystemHTTP

/// Checks whether the certificates of a path are revoked.
///
/// The rules are those of `SecRevocationServer.c` and `SecOCSPResponse.c` (Apple, Security-61901). Apple's systems no
/// longer use revocation lists; the rules for them are those of RFC 5280.
package struct RevocationCheck: Sendable {
    /// How the certificates' issuers are asked.
    package struct Methods: OptionSet, Hashable, Sendable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }

        package static let responders = Methods(rawValue: 1 << 0)
        package static let lists = Methods(rawValue: 1 << 1)
        /// Lists before responders.
        package static let listsFirst = Methods(rawValue: 1 << 2)
    }

    /// What was found about a certificate.
    package enum Status: Equatable, Sendable {
        /// The answer holds until then; nil if it does not say.
        case good(until: Date?)
        case revoked
        /// No valid answer was found, for this reason.
        case unknown(String)
    }

    /// Empty asks nobody, and looks at the given answers alone.
    package var methods: Methods = []
    /// Answers of responders that the program has, such as from a TLS handshake.
    package var given: [Data] = []
    package var settings = OnlineSettings()

    /// The most given answers that are looked at, of which a server sends one for each certificate of its path.
    private static let mostGiven = 32

    package init() {}

    /// Checks each certificate of a path except the last.
    ///
    /// - Parameter chain: DER, from the certificate in question to the anchor. Each must be the issuer of the one
    ///   before.
    /// - Returns: The status of each certificate except the last, in their order.
    /// - Throws: `LibcryptoFailure`; `SystemLibraryError` if libcrypto is missing.
    package func statuses(of chain: [Data]) throws -> [Status] {
        let deadline = OnlineDeadline(settings)
        return try zip(chain, chain.dropFirst()).map { certificate, issuer in
            var check = try CertificateCheck(certificate: certificate, issuer: issuer, self, deadline)
            return try check.status()
        }
    }

    fileprivate var usable: ArraySlice<Data> { given.prefix(Self.mostGiven) }
}

/// The check of one certificate.
private struct CertificateCheck {
    let encoded: Data
    let issuer: Data
    let certificate: Certificate?
    let check: RevocationCheck
    let deadline: OnlineDeadline
    let now: Date
    /// The newest answer of a responder.
    var answer: OCSPAnswer?
    /// What the lists say.
    var listed: RevocationList.Status?
    /// When the list will be replaced.
    var listEnd: Date?
    /// Why there is no answer: the last reason.
    var reason = "it names nobody who could be asked"

    init(certificate: Data, issuer: Data, _ check: RevocationCheck, _ deadline: OnlineDeadline) throws {
        (encoded, self.issuer, self.check, self.deadline) = (certificate, issuer, check, deadline)
        self.certificate = try? Certificate(der: certificate)
        now = check.settings.date ?? Date()
    }

    private var settings: OnlineSettings { check.settings }

    /// Whether no further question can change the result. A newer answer can, where one that is out of date says that
    /// the certificate is revoked.
    private var isDone: Bool { answer?.isCurrent == true || listed != nil }

    mutating func status() throws -> RevocationCheck.Status {
        guard let certificate else { return .unknown("it cannot be read") }
        if certificate.isUnchecked { return .unknown("it says that nobody is to be asked about it") }
        for response in check.usable { try consume(response, nil) }
        if check.methods.contains(.listsFirst) {
            try askLists(certificate)
            try askResponders(certificate)
        } else {
            try askResponders(certificate)
            try askLists(certificate)
        }
        if answer?.status == .revoked || listed == .revoked { return .revoked }
        guard isDone else { return .unknown(reason) }
        return .good(until: answer?.isCurrent == true ? answer?.end : listEnd)
    }

    /// Takes an answer if it is valid and newer than the one before.
    ///
    /// - Returns: Whether it was taken.
    @discardableResult
    private mutating func consume(_ response: Data, _ question: OCSPQuestion?) throws -> Bool {
        do {
            let next = try OCSPAnswer(
                response, certificate: encoded, issuer: issuer, question: question, now: now)
            if let answer, answer.thisUpdate >= next.thisUpdate { return false }
            answer = next
            return true
        } catch let refusal as OCSPAnswer.Refusal {
            reason = "\(refusal)"
            return false
        }
    }

    private mutating func askResponders(_ certificate: Certificate) throws {
        guard check.methods.contains(.responders), !isDone else { return }
        let responders = OnlineSettings.asked(certificate.responders)
        for responder in responders {
            let key = AnswerCache.Key(responder, about: encoded)
            if let kept = settings.cache?.read(key, limit: OCSPAnswer.largest) { try consume(kept, nil) }
            if isDone { return }
        }
        for responder in responders {
            let question = try OCSPQuestion(certificate: encoded, issuer: issuer, nonce: .random(count: 32))
            guard
                let response = request(
                    responder, body: question.encoded, type: "application/ocsp-request", limit: OCSPAnswer.largest)
            else { continue }
            if try consume(response, question), answer?.isCurrent == true {
                settings.cache?.write(AnswerCache.Key(responder, about: encoded), response)
            }
            if isDone { return }
        }
    }

    private mutating func askLists(_ certificate: Certificate) throws {
        guard check.methods.contains(.lists), !isDone else { return }
        for place in OnlineSettings.asked(certificate.listPlaces) {
            // What is kept may be damaged, which does not show before the signature is checked.
            if try look(at: place, certificate, usesKept: true) == .refusedKept {
                _ = try look(at: place, certificate, usesKept: false)
            }
            if isDone { return }
        }
    }

    private enum Look {
        case over
        /// A list that was kept may be the reason why the lists say nothing.
        case refusedKept
    }

    private mutating func look(at place: String, _ certificate: Certificate, usesKept: Bool) throws -> Look {
        guard let (base, isKept) = try base(of: place, usesKept) else { return .over }
        guard let status = try status(in: [base]) else { return isKept ? .refusedKept : .over }
        (listed, listEnd) = (status, try RevocationList.end(of: base))
        if !isKept { settings.cache?.write(AnswerCache.Key(place), base) }
        // Only a list that the issuer signed says where else to ask. libcrypto passes over a delta CRL that is not
        // valid or not for this list, and does not say so: none is kept, or a forged one would hide what the next says.
        var deltas: [Data] = []
        for place in try OnlineSettings.asked(certificate.deltaPlaces + RevocationList.deltaPlaces(of: base)) {
            if let delta = request(place, limit: RevocationList.largest) { deltas.append(delta) }
        }
        if !deltas.isEmpty, let status = try self.status(in: [base] + deltas) { listed = status }
        return .over
    }

    private mutating func status(in lists: [Data]) throws -> RevocationList.Status? {
        do {
            return try RevocationList.status(of: encoded, issuer: issuer, in: lists, now: now)
        } catch let refusal as RevocationList.Refusal {
            reason = "\(refusal)"
            return nil
        }
    }

    /// Returns the list of a place, and whether it was kept.
    private mutating func base(of place: String, _ usesKept: Bool) throws -> (list: Data, isKept: Bool)? {
        if usesKept, let kept = settings.cache?.read(AnswerCache.Key(place), limit: RevocationList.largest),
            try RevocationList.end(of: kept).map({ $0 >= now }) ?? false
        {
            return (kept, true)
        }
        return request(place, limit: RevocationList.largest).map { ($0, false) }
    }

    private mutating func request(
        _ address: String, body: Data? = nil, type: String? = nil, limit: Int
    ) -> Data? {
        guard settings.allowsRequests else {
            reason = "no requests are allowed"
            return nil
        }
        do throws(HTTPRequest.Failure) {
            return try HTTPRequest(address, body: body, type: type, limit: limit, deadline: deadline.next).answer()
        } catch {
            reason = "\(error)"
            return nil
        }
    }
}
