import ArgumentParser
import Certificates
import FoundationEssentials
import KeychainModel
import OpenSSLCertificates
import SecureMemory
import StatusCodes
import Vault

/// An identity on its way into a PKCS#12 file.
struct ExportedIdentity {
    let session: KeySession
    let pair: KeyPair

    /// More issuers than any path has.
    private static let longestPath = 8

    /// The key's certificates, and those of its issuers that the keychain has.
    private func path() throws(Failure) -> [Certificate] {
        guard var path = try certificates([.publicKeyHash: .data(pair.hash)], in: pair.group).first.map({ [$0] }) else {
            throw Failure(
                status: errSecItemNotFound,
                "there is no certificate for the key '\(pair.name)': `keychain import` stores one, or say --private")
        }
        while let last = path.last, path.count < Self.longestPath {
            let issuers = try certificates([.subject: .data(last.issuer.normalizedContent)], in: nil)
            guard let issuer = issuers.first(where: { !path.contains($0) }) else { break }
            path.append(issuer)
        }
        return path
    }

    private func certificates(
        _ attributes: [AttributeName: AttributeValue], in group: String?
    ) throws(Failure) -> [Certificate] {
        let query = ItemQuery(
            itemClass: .certificate, attributes: attributes, accessGroup: group, synchronizable: .any)
        do {
            return try session.session.vault.copy(query, includingValues: true, as: session.session.client)
                .compactMap { $0.value.flatMap { try? Certificate(der: $0) } }
        } catch {
            if error == .itemNotFound { return [] }
            throw Failure(error)
        }
    }

    /// The file. The passphrase is asked for once everything else is there.
    ///
    /// - Parameter key: PKCS#8.
    func encoded(
        key: () throws(Failure) -> Data, passphrase: () throws(Failure) -> SecretBytes
    ) throws(Failure) -> Data {
        let path = try path()
        let key = try key()
        let words = try passphrase()
        guard words.count > 0 else {
            throw Failure(status: errSecParam, "the passphrase is empty: the file would be open to everybody")
        }
        do {
            return try ExchangeFile.encoding(
                key: key, certificates: path.map(\.encoded), name: pair.name, passphrase: words)
        } catch {
            throw Failure(
                status: errSecUnimplemented,
                "the PKCS#12 file cannot be written, for which OpenSSL 3 is needed: \(error)")
        }
    }
}
