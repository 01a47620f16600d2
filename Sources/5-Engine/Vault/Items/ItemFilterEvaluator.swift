import Certificates
import FoundationEssentials
import KeychainModel

/// Decides the conditions of a query that go beyond equal attributes.
///
/// Conditions on certificates are evaluated for certificates and for nothing else: on a password they
/// hold without effect, as Apple's keychain has it.
struct ItemFilterEvaluator {
    private let itemClass: ItemClass
    private let filters: [ItemFilter]
    private let issuers: IssuerChain

    init(_ query: ItemQuery, issuers: IssuerChain) {
        itemClass = query.itemClass
        filters = query.filters
        self.issuers = issuers
    }

    /// Whether the item's value is needed to decide.
    var needsValue: Bool {
        itemClass == .certificate
            && filters.contains { filter in
                if case .hostOrSubdomain = filter { return false }
                return true
            }
    }

    func accepts(_ item: StoredItem, value: Data?) throws -> Bool {
        for filter in filters where try !accepts(item, value: value, filter) { return false }
        return true
    }

    private func accepts(_ item: StoredItem, value: Data?, _ filter: ItemFilter) throws -> Bool {
        switch filter {
        case .hostOrSubdomain(let host):
            guard let server = item.attribute(.server)?.canonicalBytes(as: .blob) else { return false }
            let host = Array(host.utf8)
            return server == host || server.count > host.count && server.suffix(host.count + 1) == [0x2e] + host
        case .emailAddress, .validOn, .issuers:
            guard itemClass == .certificate else { return true }
            guard let value else { return false }
            return switch filter {
            case .emailAddress(let address): CertificateFilter.hasEmailAddress(address, in: value)
            case .validOn(let date): CertificateFilter.isValid(value, on: date)
            case .issuers(let names): try issuers.leads(from: value, toAnyOf: names)
            case .hostOrSubdomain: true
            }
        }
    }
}

/// Follows a certificate's issuers through the certificates of the vault.
struct IssuerChain {
    /// The stored certificates with this normalised subject.
    let certificates: (_ subject: Data) throws -> [Data]

    /// As many levels as Apple's keychain follows.
    private static let deepest = 10

    func leads(from certificate: Data, toAnyOf names: [Data]) throws -> Bool {
        var level = [certificate]
        var seen: Set<Data> = []
        for _ in 0..<Self.deepest {
            var next: [Data] = []
            for certificate in level {
                guard let issuer = CertificateFilter.normalizedIssuer(of: certificate) else { continue }
                if names.contains(issuer) { return true }
                guard seen.insert(issuer).inserted else { continue }
                next += try certificates(issuer)
            }
            if next.isEmpty { return false }
            level = next
        }
        return false
    }
}
