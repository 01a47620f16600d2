import Certificates
import FoundationEssentials
import OpenSSLCertificates
import SystemHTTP

/// Fetches certificates of issuers that are missing in a path, from where the certificates say that they are.
package struct IssuerSearch {
    /// The certificates that one path may miss. Paths in use have one or two between a leaf and an anchor.
    package static let most = 4

    private let settings: OnlineSettings
    private let deadline: OnlineDeadline

    /// Begins the time of the search.
    package init(_ settings: OnlineSettings) { (self.settings, deadline) = (settings, OnlineDeadline(settings)) }

    /// Returns certificates whose subject is the issuer of a certificate. Whether they signed it is not checked.
    ///
    /// A path with them is checked as any other. None is kept: a wrong one, or one that has expired since, would stand
    /// in the place of the right one.
    ///
    /// - Parameters:
    ///   - certificate: DER.
    ///   - known: DER of certificates that are of no use.
    /// - Throws: `SystemLibraryError` if libcrypto is missing.
    package func issuers(of certificate: Data, otherThan known: Set<Data>) throws -> [Data] {
        guard settings.allowsRequests, let parsed = try? Certificate(der: certificate) else { return [] }
        for place in OnlineSettings.asked(parsed.issuerPlaces) {
            let request = HTTPRequest(place, limit: IssuerFile.largest, deadline: deadline.next)
            guard let file = try? request.answer() else { continue }
            let found = try matching(parsed, in: file, known)
            if !found.isEmpty { return found }
        }
        return []
    }

    private func matching(_ certificate: Certificate, in file: Data, _ known: Set<Data>) throws -> [Data] {
        try IssuerFile.certificates(in: file).filter { der in
            guard !known.contains(der), let issuer = try? Certificate(der: der) else { return false }
            return issuer.subject.normalizedContent == certificate.issuer.normalizedContent
        }
    }
}
