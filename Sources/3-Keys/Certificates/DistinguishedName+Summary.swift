import SwiftASN1

extension DistinguishedName {
    /// The most telling part of the name for people: the common name if there is one, else the
    /// organisational unit, the organisation, or whatever text there is; nil when there is none.
    ///
    /// Several values of the same rank are listed last first, and a description follows a common name
    /// in parentheses, as Apple's certificate summaries do.
    package var summary: String? {
        var rank = 0
        var best: [String] = []
        for attribute in attributes {
            let attributeRank = Self.rank(of: attribute.type)
            guard attributeRank >= rank, let text = attribute.text else { continue }
            if attributeRank > rank {
                best = []
                rank = attributeRank
            }
            best.insert(text, at: 0)
        }
        guard !best.isEmpty else { return nil }
        let name = best.joined(separator: ", ")
        let descriptions = texts(of: .description)
        guard rank == Self.rank(of: .NameAttributes.commonName), !descriptions.isEmpty else { return name }
        return "\(name) (\(descriptions.reversed().joined(separator: ", ")))"
    }

    private static func rank(of type: ASN1ObjectIdentifier) -> Int {
        switch type {
        case .NameAttributes.commonName: 4
        case .NameAttributes.organizationalUnitName: 3
        case .NameAttributes.organizationName: 2
        default: 1
        }
    }
}
