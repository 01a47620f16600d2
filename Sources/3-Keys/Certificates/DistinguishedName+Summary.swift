import SwiftASN1

extension DistinguishedName {
    /// The name's most useful part for people: the common name, or else the organisational unit, the organisation, or
    /// any other text; nil without text.
    ///
    /// Lists several values of the same kind from the last to the first. A description follows a common name in
    /// parentheses. Apple's certificate summaries do the same.
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
