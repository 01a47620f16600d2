import FoundationEssentials
import SwiftASN1

/// Where a certificate says that more about it is to be found. What cannot be read names no place.
extension Certificate {
    /// The addresses of OCSP responders (RFC 5280, 4.2.2.1).
    package var responders: [String] { accesses([1, 3, 6, 1, 5, 5, 7, 48, 1]) }

    /// The addresses of the certificates of its issuer (RFC 5280, 4.2.2.1).
    package var issuerPlaces: [String] { accesses([1, 3, 6, 1, 5, 5, 7, 48, 2]) }

    /// The addresses of revocation lists (RFC 5280, 4.2.1.13).
    package var listPlaces: [String] { value(of: [2, 5, 29, 31]).map(Self.distributionPoints) ?? [] }

    /// The addresses of lists of what changed since (RFC 5280, 4.2.1.15).
    package var deltaPlaces: [String] { value(of: [2, 5, 29, 46]).map(Self.distributionPoints) ?? [] }

    /// Whether nobody is to be asked about it: id-pkix-ocsp-nocheck (RFC 6960, 4.2.2.2.1).
    package var isUnchecked: Bool { value(of: [1, 3, 6, 1, 5, 5, 7, 48, 1, 5]) != nil }

    private func value(of identifier: ASN1ObjectIdentifier) -> Data? {
        extensions.first { $0.identifier == identifier }?.value
    }

    private func accesses(_ method: ASN1ObjectIdentifier) -> [String] {
        let part = "certificate access"
        guard let value = value(of: [1, 3, 6, 1, 5, 5, 7, 1, 1]),
            let descriptions = try? ASN1Node.parse(value, as: part).members(of: .sequence, as: part)
        else { return [] }
        return descriptions.compactMap { description in
            guard let members = try? description.members(of: .sequence, as: part), members.count == 2,
                (try? members[0].decoded(ASN1ObjectIdentifier.self, as: part)) == method
            else { return nil }
            return Self.address(in: members[1])
        }
    }

    /// Returns the addresses in the value of a CRLDistributionPoints or FreshestCRL extension.
    package static func distributionPoints(in der: Data) -> [String] {
        let part = "distribution points"
        guard let points = try? ASN1Node.parse(der, as: part).members(of: .sequence, as: part) else { return [] }
        return points.flatMap { point -> [String] in
            // The members are all optional: the name is [0], and in it the full name is [0].
            guard let members = try? point.members(of: .sequence, as: part),
                let name = try? members.first?.members(of: .context(0), as: part).first,
                let names = try? name.members(of: .context(0), as: part)
            else { return [] }
            return names.compactMap(address)
        }
    }

    /// Returns the text of a GeneralName that is an address ([6], IA5String).
    private static func address(in name: ASN1Node) -> String? {
        guard let bytes = try? name.bytes(of: .context(6), as: "address"), bytes.allSatisfy({ $0 < 0x80 }) else {
            return nil
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
