import ArgumentParser
import Bytes
import Certificates
import CommandKit
import FoundationEssentials
import KeychainModel
import OpenSSLCertificates
import StatusCodes
import VaultInterface
import VaultKeys

/// Writes an identity to a PKCS#12 file.
struct ExportedIdentity {
    let session: KeyCommandSession
    let pair: KeyPair

    /// More issuers than any path has.
    private static let longestPath = 8

    /// Returns the key's certificate, and those of its issuers that the keychain has.
    private func path() throws -> [Certificate] {
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
        _ attributes: ItemAttributes, in group: String?
    ) throws -> [Certificate] {
        let query = ItemQuery(
            itemClass: .certificate, attributes: attributes, accessGroup: group, synchronizable: .any)
        do {
            return try session.session.perform(CopyItems(query, includingValues: true))
                .compactMap { $0.value.flatMap { try? Certificate(der: $0) } }
        } catch {
            guard error == .itemNotFound else { throw error }
            return []
        }
    }

    /// Returns the file. The passphrase is asked for last, when everything else is there.
    ///
    /// - Parameter key: PKCS#8.
    func encoded(
        key: () throws -> Data, passphrase: () throws -> SecretBytes
    ) throws -> Data {
        let path = try path()
        let key = try key()
        let words = try passphrase()
        guard words.count > 0 else {
            throw Failure(
                status: errSecParam,
                "the passphrase is empty, so anybody could open the file: give one of at least one character")
        }
        do {
            return try ExchangeFile.encoding(
                key: key, certificates: path.map(\.encoded), name: pair.name, passphrase: words)
        } catch {
            throw Failure(
                status: errSecUnimplemented,
                "the PKCS#12 file cannot be written; this needs OpenSSL 3: \(error)")
        }
    }
}
