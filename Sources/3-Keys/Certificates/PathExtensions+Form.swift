import SwiftASN1

/// Checks of the form of extensions whose values libcrypto uses, or nobody.
extension PathExtensions {
    /// PolicyInformation (RFC 5280, 4.2.1.4).
    static func checkPolicy(_ node: ASN1Node, as part: String) throws(CertificateError) {
        let members = try node.members(of: .sequence, as: part)
        guard (1...2).contains(members.count) else { throw CertificateError(malformed: part) }
        _ = try members[0].decoded(ASN1ObjectIdentifier.self, as: part)
        if members.count == 2 { _ = try members[1].members(of: .sequence, as: part) }
    }

    /// A member of PolicyMappings (RFC 5280, 4.2.1.5).
    static func checkMapping(_ node: ASN1Node, as part: String) throws(CertificateError) {
        let members = try node.members(of: .sequence, as: part)
        guard members.count == 2 else { throw CertificateError(malformed: part) }
        for member in members { _ = try member.decoded(ASN1ObjectIdentifier.self, as: part) }
    }

    /// PolicyConstraints (RFC 5280, 4.2.1.11).
    static func checkConstraints(_ members: [ASN1Node], as part: String) throws(CertificateError) {
        var last: UInt?
        for member in members {
            let tag = member.identifier.tagNumber
            guard member.identifier == .context(tag), tag < 2, last.map({ $0 < tag }) ?? true,
                let number = try? Int(derEncoded: member, withIdentifier: .context(tag)), number >= 0
            else { throw CertificateError(malformed: part) }
            last = tag
        }
    }

    /// QCStatement (RFC 3739, 3.2.6). One statement has contents that Apple's systems read: the kinds of the
    /// certificate (SecQCPType of SecCertificate.c; Apple, Security-61901).
    static func checkStatement(_ node: ASN1Node, as part: String) throws(CertificateError) {
        let members = try node.members(of: .sequence, as: part)
        guard (1...2).contains(members.count) else { throw CertificateError(malformed: part) }
        // id-etsi-qcs-QcType (ETSI EN 319 412-5, 4.2.3).
        guard try members[0].decoded(ASN1ObjectIdentifier.self, as: part) == [0, 4, 0, 1862, 1, 6] else { return }
        guard members.count == 2 else { throw CertificateError(malformed: part) }
        let kinds = try members[1].members(of: .sequence, as: part)
        guard (1..<10).contains(kinds.count) else { throw CertificateError(malformed: part) }
        for kind in kinds { _ = try kind.decoded(ASN1ObjectIdentifier.self, as: part) }
    }

    /// DistributionPoint (RFC 5280, 4.2.1.13).
    static func checkPoint(_ node: ASN1Node, as part: String) throws(CertificateError) {
        let members = try node.members(of: .sequence, as: part)
        // Reasons alone say nothing.
        guard members.contains(where: { $0.identifier == .context(0) || $0.identifier == .context(2) }) else {
            throw CertificateError(malformed: part)
        }
        for member in members {
            switch member.identifier {
            case .context(0):
                let name = try member.members(of: .context(0), as: part)
                guard name.count == 1 else { throw CertificateError(malformed: part) }
                // A name that is relative to the issuer of the list ([1]) is not used.
                guard name[0].identifier == .context(0) else {
                    _ = try name[0].members(of: .context(1), as: part)
                    continue
                }
                for name in try name[0].members(of: .context(0), as: part) { try name.checkGeneralName(as: part) }
            case .context(1): _ = try member.bytes(of: .context(1), as: part)
            case .context(2):
                for name in try member.members(of: .context(2), as: part) { try name.checkGeneralName(as: part) }
            default: throw CertificateError(malformed: part)
            }
        }
    }

    /// AccessDescription (RFC 5280, 4.2.2.1). Responders and issuers have addresses.
    static func checkAccess(_ node: ASN1Node, as part: String) throws(CertificateError) {
        let members = try node.members(of: .sequence, as: part)
        guard members.count == 2 else { throw CertificateError(malformed: part) }
        let method: ASN1ObjectIdentifier = try members[0].decoded(as: part)
        guard [[1, 3, 6, 1, 5, 5, 7, 48, 1], [1, 3, 6, 1, 5, 5, 7, 48, 2]].contains(method) else { return }
        _ = try members[1].bytes(of: .context(6), as: part)
    }
}

extension ASN1Node {
    /// Checks that this is a GeneralName (RFC 5280, 4.2.1.6).
    func checkGeneralName(as part: String) throws(CertificateError) {
        let isConstructed = if case .constructed = content { true } else { false }
        let tag = identifier.tagNumber
        let isKnown: Bool =
            switch tag {
            case 0, 3, 4, 5: isConstructed
            case 1, 2, 7, 8: !isConstructed
            // Some authorities put the text of an address into a value of its own. Apple's systems read it.
            case 6: true
            default: false
            }
        guard isKnown, identifier == .context(tag) else { throw CertificateError(malformed: part) }
    }
}
