import Bytes
import Certificates
import CommandKit
import Crypto
import FoundationEssentials
import KeyCommands
import KeychainModel
import VaultInterface
import VaultKeys

/// A certificate in a keychain.
struct KeychainCertificate {
    let item: StoredItem
    let certificate: Certificate
    let keychain: OpenedKeychain

    var der: Data { certificate.encoded }
    var name: String { certificate.subjectSummary ?? "<unknown>" }
    var sha1: String { Data(Insecure.SHA1.hash(data: der)).hexadecimal(uppercase: true) }
    var sha256: String { Data(SHA256.hash(data: der)).hexadecimal(uppercase: true) }

    /// Whether one of the two hashes is this one.
    func hasHash(_ hash: String) -> Bool { [sha1, sha256].contains(hash.uppercased()) }

    /// How the certificate's common name matches a text.
    enum NameMatch { case none, part, whole }

    func match(_ text: String) -> NameMatch {
        let (name, text) = ((certificate.commonNames.last ?? "").lowercased(), text.lowercased())
        return name == text ? .whole : !text.isEmpty && name.contains(text) ? .part : .none
    }

    /// Returns the one certificate with this hash or, if it is nil, the one whose name has this text. A name that is
    /// the whole text comes first.
    static func only(_ name: String?, _ hash: String?, in keychains: [OpenedKeychain]) throws -> KeychainCertificate {
        let all = try keychains.flatMap { try $0.certificates() }
        var found: [KeychainCertificate] = []
        if let hash {
            found = Array(all.filter { $0.hasHash(hash) }.prefix(1))
        } else if let name {
            let exact = all.filter { $0.match(name) == .whole }
            found = exact.isEmpty ? all.filter { $0.match(name) == .part } : exact
        }
        guard let certificate = found.first else {
            throw SecurityFailure.vault(.itemNotFound, during: "SecKeychainSearchCopyNext")
        }
        guard found.allSatisfy({ $0.der == certificate.der }) else {
            throw SecurityFailure.other(
                "\"\((name ?? "").escapedForTerminal)\" is ambiguous, matches more than one certificate: name it by its "
                    + "hash with -Z")
        }
        return certificate
    }
}

/// A certificate and the key that it is for.
struct StoredIdentity {
    let certificate: KeychainCertificate
    let pair: KeyPair
}

extension OpenedKeychain {
    func certificates() throws -> [KeychainCertificate] {
        try items(ItemQuery(itemClass: .certificate, synchronizable: .any)).compactMap { item in
            guard let certificate = item.value.flatMap({ try? Certificate(der: $0) }) else { return nil }
            return KeychainCertificate(item: item, certificate: certificate, keychain: self)
        }
    }

    /// The keys that can be seen. The password of a locked keychain is asked for, if somebody can be asked.
    func keys() throws -> [KeyPair] {
        try securing("SecKeychainSearchCopyNext") {
            let session = KeyCommandSession(session)
            let visible = try session.inventory()
            return try (visible.isLocked ? session.unlockedInventory() : visible).sortedPairs
        }
    }

    func identities() throws -> [StoredIdentity] {
        let certificates = try certificates()
        guard !certificates.isEmpty else { return [] }
        let keys = try keys().filter(\.hasPrivateHalf)
        return certificates.compactMap { certificate in
            keys.first { $0.hash == certificate.certificate.publicKeyHash && $0.group == certificate.item.accessGroup }
                .map { StoredIdentity(certificate: certificate, pair: $0) }
        }
    }

    /// Stores a certificate.
    ///
    /// - Returns: False if it is there already.
    func add(_ certificate: Certificate) throws -> Bool {
        do {
            try session.perform(
                AddItem(
                    NewItem(
                        itemClass: .certificate, attributes: certificate.storedAttributes, value: certificate.encoded)))
            return true
        } catch {
            guard error == .duplicateItem else {
                throw SecurityFailure.vault(error, during: "SecCertificateAddToKeychain")
            }
            return false
        }
    }
}

extension KeychainCertificate {
    func hasAddress(_ address: String) -> Bool { CertificateFilter.hasEmailAddress(address, in: der) }
}
