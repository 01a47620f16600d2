import Bytes
import Certificates
import CommandKit
import Crypto
import FoundationEssentials
import KeychainModel
import StatusCodes
import VaultInterface
import VaultKeys

/// A certificate in the keychain.
struct StoredCertificate {
    let item: StoredItem
    let certificate: Certificate

    /// Returns those that can be read.
    ///
    /// - Parameters:
    ///   - group: Nil for every group.
    ///   - damage: Called for each item that is damaged.
    static func all(
        in session: VaultSession, group: String?, damage: () -> Void = {}
    ) throws -> [StoredCertificate] {
        var query = ItemQuery(
            itemClass: .certificate, accessGroup: group, synchronizable: .any,
            authentication: AuthenticationOptions(interaction: .skip))
        query.reports = .damage
        do {
            let items = try session.perform(CopyItems(query, includingValues: true)) { part in
                if case .damage = part { damage() }
            }
            return items.compactMap { item in
                item.value.flatMap { try? Certificate(der: $0) }.map { StoredCertificate(item: item, certificate: $0) }
            }
            .sorted { ($0.name, $0.fingerprint) < ($1.name, $1.fingerprint) }
        } catch {
            guard error == .itemNotFound else { throw error }
            return []
        }
    }

    /// The label, or what the certificate says of its subject.
    var name: String {
        let label = item.attribute(.label).map { AttributeText($0).plain } ?? ""
        return label.isEmpty ? certificate.subjectSummary ?? String(fingerprint.prefix(16)) : label
    }

    /// SHA-256 of the certificate, in hexadecimal.
    var fingerprint: String { Data(SHA256.hash(data: certificate.encoded)).hexadecimal() }

    var isExpired: Bool { certificate.notAfter < Date() }

    /// Returns the one certificate that a person means: by its label, its subject, or the first 8 or more digits of its
    /// fingerprint.
    static func one(named name: String, in session: VaultSession, group: String?) throws -> StoredCertificate {
        let all = try all(in: session, group: group)
        var found = all.filter { $0.name == name }
        if found.isEmpty { found = all.filter { $0.certificate.commonNames.contains(name) } }
        if found.isEmpty, name.utf8.count >= 8 {
            let digits = name.lowercased().filter { $0 != ":" }
            found = all.filter { $0.fingerprint.hasPrefix(digits) }
        }
        return try NamedChoice(kind: "certificate", list: "cert list", digits: "fingerprint").one(
            of: found, named: name
        ) {
            ($0.fingerprint, $0.item.accessGroup)
        }
    }
}

/// A certificate as `--json` shows it.
struct CertificateSummary: Encodable {
    var label: String
    var group: String
    var subject: String?
    var issuer: String?
    /// In hexadecimal.
    var serialNumber: String
    var hostNames: [String]
    var emailAddresses: [String]
    var keyType: String
    var notBefore: String
    var notAfter: String
    var isExpired: Bool
    /// SHA-256.
    var fingerprint: String
    /// Whether the private key is here too.
    var hasPrivateKey: Bool

    init(_ stored: StoredCertificate, _ keys: KeyInventory) {
        let certificate = stored.certificate
        label = stored.name
        group = stored.item.accessGroup
        subject = certificate.subject.summary ?? certificate.subjectSummary
        issuer = certificate.issuer.summary
        serialNumber = certificate.serialNumber.hexadecimal()
        hostNames = certificate.alternativeNames.hostNames
        emailAddresses = certificate.emailAddresses
        keyType = certificate.publicKey.key.map { KeyType.name($0.type, sizeInBits: $0.sizeInBits) } ?? "unknown"
        notBefore = Timestamp(certificate.notBefore).iso8601
        notAfter = Timestamp(certificate.notAfter).iso8601
        isExpired = stored.isExpired
        fingerprint = stored.fingerprint
        hasPrivateKey = keys.pairs.contains { $0.hash == certificate.publicKeyHash && $0.hasPrivateHalf }
    }
}
