import Certificates
import Crypto
import Foundation
import VaultKeys

/// Sets signed certificate timestamps (RFC 6962), such as those that a TLS server sends. They count beside those in the
/// certificate, if the program names logs with ``SecTrustSetTrustedLogs(_:_:)``.
///
/// - Parameter sctArray: An array of data, one for each; `nil` for none.
/// - Returns: ``errSecSuccess``, or ``errSecParam`` if anything else is among it.
@discardableResult
public func SecTrustSetSignedCertificateTimestamps(_ trust: SecTrust, _ sctArray: CFArray?) -> OSStatus {
    guard let timestamps = sctArray.map({ list(of: NSData.self, in: $0) }) ?? [] else { return errSecParam }
    trust.change { $0.timestamps = timestamps.map { $0 as Data } }
    return errSecSuccess
}

/// Sets the public logs (RFC 6962) whose promises to list a certificate count. Without them, none count: this package
/// has no list of logs, because such a list is out of date after some weeks.
///
/// With them, a TLS server's certificate that was issued from 16 October 2018 on and leads to an anchor of the system
/// is trusted only if enough logs promise to list it; otherwise the status is ``errSecVerifyActionFailed``.
/// Certificates below the program's own anchors need no promise. (On Apple systems this function is not in the public
/// headers, and Apple sends a list of logs with the system.)
///
/// - Parameter trustedLogs: For each log the DER of its SubjectPublicKeyInfo, or a dictionary with it under `key`, and
///   if they apply with dates under `expiry` (when the log was retired), `frozen` (the end of what it promises),
///   `start_inclusive` and `end_exclusive` (between which the certificates in it end), as in Apple's list; `nil` for
///   none.
/// - Returns: ``errSecSuccess``, or ``errSecParam`` if anything else is among it, or a key that is neither RSA nor on
///   a NIST curve.
@discardableResult
public func SecTrustSetTrustedLogs(_ trust: SecTrust, _ trustedLogs: CFArray?) -> OSStatus {
    var logs: [PublicLog]?
    if let trustedLogs {
        let known = trustedLogs.compactMap(PublicLog.init)
        guard known.count == trustedLogs.count else { return errSecParam }
        logs = known
    }
    trust.change { $0.logs = logs }
    return errSecSuccess
}

/// A public log of certificates.
struct PublicLog: Sendable {
    /// SHA-256 of its SubjectPublicKeyInfo.
    let identifier: Data
    let key: VaultKey
    var retired: Date?
    var frozen: Date?
    var start: Date?
    var end: Date?

    init?(_ member: Any) {
        let dictionary = member as? NSDictionary
        guard let encoded = (dictionary?["key"] ?? member) as? NSData,
            let key = (try? PublicKeyInfo(der: encoded as Data))?.key
        else { return nil }
        identifier = Data(SHA256.hash(data: encoded as Data))
        self.key = VaultKey(key)
        retired = dictionary?["expiry"] as? Date
        frozen = dictionary?["frozen"] as? Date
        start = dictionary?["start_inclusive"] as? Date
        end = dictionary?["end_exclusive"] as? Date
    }

    /// Whether the log may have made a promise at a time, for a certificate that ends then.
    fileprivate func mayPromise(at date: Date, until notAfter: Date) -> Bool {
        if let frozen, date > frozen { return false }
        if let start, notAfter < start { return false }
        if let end, notAfter >= end { return false }
        return true
    }

    /// Whether the log signed this (RFC 6962, 2.1.4, and what Apple's systems accept besides).
    fileprivate func signed(_ timestamp: CertificateTimestamp, _ bytes: Data) -> Bool {
        // HashAlgorithm and SignatureAlgorithm (RFC 5246, 7.4.1.4.1).
        let algorithm: SecKeyAlgorithm
        switch (timestamp.signer, timestamp.digest) {
        case (1, 4): algorithm = .rsaSignatureMessagePKCS1v15SHA256
        case (1, 5): algorithm = .rsaSignatureMessagePKCS1v15SHA384
        case (3, 4): algorithm = .ecdsaSignatureMessageX962SHA256
        case (3, 5): algorithm = .ecdsaSignatureMessageX962SHA384
        default: return false
        }
        return (try? key.isValid(timestamp.signature, of: bytes, by: algorithm.name)) ?? false
    }
}

/// Counts the logs that promise to list a certificate.
///
/// The rules are those of `CertificateTransparency.m` (Apple, Security-61901).
struct TransparencyCheck {
    let logs: [PublicLog]
    /// Timestamps from a TLS handshake.
    let given: [Data]
    /// The moment of the evaluation.
    let date: Date

    /// The most timestamps of one source that are looked at. Certificates have up to five.
    private static let most = 32
    private static let october2018 = Date(timeIntervalSinceReferenceDate: 561_340_800)
    private static let april2021 = Date(timeIntervalSinceReferenceDate: 640_656_000)

    /// Whether a certificate has to be listed: it is newer than Apple's rule, and valid.
    func isNeeded(for leaf: Certificate) -> Bool {
        leaf.notBefore >= Self.october2018 && leaf.notBefore <= date && date <= leaf.notAfter
    }

    /// Whether enough logs promise to list the first certificate of a path.
    func isListed(_ chain: [Certificate]) -> Bool {
        guard let leaf = chain.first else { return false }
        let external = promises(given, for: .certificate(leaf.encoded), leaf).filter { $0.log.retired == nil }
        var embedded: [Promise] = []
        if chain.count > 1, let body = leaf.loggedBody {
            let issuer = SHA256.hash(data: chain[1].publicKey.encoded)
            embedded = promises(leaf.timestamps, for: .precertificate(issuer: issuer, body: body), leaf)
        }
        let current = embedded.filter { $0.log.retired == nil }
        if !external.isEmpty, Set((external + current).map(\.log.identifier)).count >= 2 { return true }
        guard !current.isEmpty else { return false }
        // A log that is retired counts for what it promised before, if the certificate was issued before.
        let issued = (external + current).map(\.date).min() ?? date
        let counted = embedded.filter { promise in
            promise.log.retired.map { promise.date < $0 && issued < $0 } ?? true
        }
        return Set(counted.map(\.log.identifier)).count >= Self.needed(for: leaf)
    }

    private struct Promise {
        let log: PublicLog
        let date: Date
    }

    private func promises(
        _ timestamps: [Data], for entry: CertificateTimestamp.Entry, _ leaf: Certificate
    ) -> [Promise] {
        timestamps.prefix(Self.most).compactMap { encoded in
            guard let timestamp = CertificateTimestamp(encoded), let bytes = timestamp.signedBytes(for: entry),
                let log = logs.first(where: { $0.identifier == timestamp.log })
            else { return nil }
            let promised = Date(timeIntervalSince1970: Double(timestamp.milliseconds) / 1000)
            guard promised <= date, log.mayPromise(at: promised, until: leaf.notAfter), log.signed(timestamp, bytes)
            else { return nil }
            return Promise(log: log, date: promised)
        }
    }

    /// The number of logs that certificates with timestamps of their own need.
    private static func needed(for leaf: Certificate) -> Int {
        guard leaf.notBefore >= april2021 else {
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = .gmt
            let months = calendar.dateComponents([.month], from: leaf.notBefore, to: leaf.notAfter).month ?? .max
            return months < 15 ? 2 : months <= 27 ? 3 : months <= 39 ? 4 : 5
        }
        let days = leaf.notAfter.timeIntervalSince(leaf.notBefore) / 86_400
        return days <= 180 ? 2 : days <= 825 ? 3 : 4
    }
}
