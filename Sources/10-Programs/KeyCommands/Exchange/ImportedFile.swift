import Bytes
import Certificates
import CommandKit
import ExchangeFormats
import FoundationEssentials
import KeyCryptography
import OpenSSLCertificates
import SSHAgent
import StatusCodes
import SwiftASN1
import SystemLibraries
import VaultKeys

/// The certificates and keys of a file, in its order.
package struct ImportedFile {
    package enum Content {
        case certificate(Certificate)
        case key(KeyData)
    }

    package private(set) var contents: [Content] = []
    /// What else is in the file, that the keychain has no type for, such as `DSA key`.
    package private(set) var leftOut: [String] = []
    /// What was asked for once: the parts of a file have one passphrase.
    private var passphrase: SecretBytes?

    /// Reads PEM, or DER of one certificate, key, PKCS#7 or PKCS#12 file.
    ///
    /// - Parameter ask: Called only if the file has a passphrase.
    package init(_ bytes: Data, passphrase ask: () throws -> SecretBytes) throws {
        let bytes = ExchangeReader.plainText(bytes)
        if let documents = try Self.documents(in: bytes) {
            for document in documents { try read(document, ask) }
        } else if try !take(privateKeyInfo: bytes) {
            if let content = try Self.content(bytes) {
                contents = [content]
            } else if let found = try? IssuerFile.certificates(in: bytes, isChosen: true), !found.isEmpty {
                take(found)
            } else if Self.isEncryptedInfo(bytes) {
                try decrypt(PEM.encoding(bytes, as: Self.encryptedKind), bytes, ask)
            } else {
                try readExchange(bytes, passphrase: ask)
            }
        }
        guard !contents.isEmpty else {
            guard !leftOut.isEmpty else { throw Self.unreadable }
            throw Failure(
                status: errSecDecode,
                "the file holds nothing that the keychain has a type for, only: \(leftOut.joined(separator: ", ")). "
                    + Self.types)
        }
        for case .key(let key) in contents {
            do throws(KeyError) {
                try SoftwareKeys.checkImported(key)
            } catch {
                throw Failure(status: error.osStatus, "a key of the file is refused; export it again: \(error)")
            }
        }
    }

    /// Returns the private key of a document that has one and no passphrase; nil for any other.
    static func privateKey(in document: Data) -> KeyData? {
        struct Encrypted: Error {}
        guard let file = try? ImportedFile(document, passphrase: { throw Encrypted() }) else { return nil }
        let keys = file.contents.compactMap { content in
            if case .key(let key) = content, key.keyClass == .private { key } else { nil }
        }
        return keys.count == 1 ? keys[0] : nil
    }

    /// Whether a file is none of a password manager: PEM, or the beginning of DER.
    static func isMeant(_ bytes: Data) -> Bool {
        let bytes = ExchangeReader.plainText(bytes)
        guard !ExchangeReader.isArchive(bytes) else { return false }
        return bytes.first == 0x30 && bytes.count > 1 && bytes[bytes.startIndex + 1] >= 0x80
            || bytes.prefix(1 << 20).firstRange(of: "-----BEGIN ") != nil && bytes.first != UInt8(ascii: "{")
                && bytes.first != UInt8(ascii: "[")
    }

    static let unreadable = Failure(
        status: errSecDecode, "the file holds no certificate and no key: it can be \(forms)")
    /// The forms of a file with certificates and keys.
    static let forms =
        "PEM, DER, OpenSSH's form, PKCS#7, PKCS#8 or PKCS#12, with RSA keys, Ed25519 keys or keys on the NIST curves"
    /// Which keys there are.
    static let types = "The keychain takes RSA keys, Ed25519 keys and keys on the NIST curves"
    private static let encryptedKind = "ENCRYPTED PRIVATE KEY"

    private static func documents(in bytes: Data) throws -> [PEM]? {
        guard bytes.firstRange(of: "-----BEGIN ") != nil else { return nil }
        guard let documents = PEM.documents(in: bytes) else {
            throw Failure(status: errSecDecode, "the file is PEM and damaged: fetch or export it again")
        }
        return documents
    }

    private mutating func read(_ document: PEM, _ ask: () throws -> SecretBytes) throws {
        if document.isEncrypted { return try decrypt(document.text, nil, ask) }
        switch document.kind {
        case "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE", "PRIVATE KEY", "RSA PRIVATE KEY",
            "EC PRIVATE KEY", "PUBLIC KEY", "RSA PUBLIC KEY":
            if try take(privateKeyInfo: document.der) { return }
            guard let content = try Self.content(document.der) else {
                throw Failure(
                    status: errSecDecode,
                    "the part '\(document.kind.escapedForTerminal)' is damaged or of an unknown kind: keys can "
                        + "be RSA or on a NIST curve")
            }
            contents.append(content)
        case Self.encryptedKind:
            try decrypt(document.text, document.der, ask)
        case "OPENSSH PRIVATE KEY":
            try readOpenSSH(document.der, ask)
        case "PKCS7", "PKCS #7 SIGNED DATA", "CMS":
            let found = try IssuerFile.certificates(in: document.der, isChosen: true)
            guard !found.isEmpty else {
                throw Failure(
                    status: errSecDecode,
                    "the part '\(document.kind)' has no certificates, or is damaged: export the certificates again")
            }
            take(found)
        case "DSA PRIVATE KEY":
            leftOut.append("DSA key")
        default:
            // Other documents beside keys, such as the parameters of a curve or a request.
            return
        }
    }

    /// Takes a PrivateKeyInfo (RFC 5958).
    ///
    /// - Returns: False for anything else.
    private mutating func take(privateKeyInfo der: Data) throws -> Bool {
        if let key = try Self.consistent({ try KeyData(privateKeyInfo: der) }) {
            contents.append(.key(key))
        } else if let name = KeyData.foreignAlgorithm(ofPrivateKeyInfo: der) {
            leftOut.append("\(name) key")
        } else {
            return false
        }
        return true
    }

    private mutating func take(_ certificates: [Data]) {
        for der in certificates {
            if let certificate = try? Certificate(der: der) {
                contents.append(.certificate(certificate))
            } else {
                leftOut.append("certificate that is not X.509 version 1 to 3")
            }
        }
    }

    // MARK: Under a passphrase

    private mutating func asked(_ ask: () throws -> SecretBytes) throws -> SecretBytes {
        if let passphrase { return passphrase }
        let given = try ask()
        passphrase = given
        return given
    }

    /// Whether bytes are an EncryptedPrivateKeyInfo (RFC 5958, 3): an algorithm, and what is encrypted.
    private static func isEncryptedInfo(_ bytes: Data) -> Bool {
        guard let root = try? DER.parse(Array(bytes)), case .constructed(let members) = root.content else {
            return false
        }
        return members.map(\.identifier) == [.sequence, .octetString]
    }

    private mutating func decrypt(_ pem: Data, _ der: Data?, _ ask: () throws -> SecretBytes) throws {
        let info: Data
        do {
            info = try EncryptedKey.decrypt(pem: pem, der: der, passphrase: try asked(ask))
        } catch let error where error is ExchangeFile.Failure || error is SystemLibraryError {
            throw Self.failure(error)
        }
        guard try take(privateKeyInfo: info) else { throw Self.failure(ExchangeFile.Failure.undecodable) }
    }

    private mutating func readOpenSSH(_ blob: Data, _ ask: () throws -> SecretBytes) throws {
        do {
            contents.append(.key(try OpenSSHFile(blob).key { try asked(ask) }))
        } catch let error as OpenSSHFile.Failure {
            switch error {
            case .foreign(let kind): leftOut.append("\(kind.escapedForTerminal) key")
            case .unusualCipher(let name):
                throw Failure(
                    status: errSecDecode,
                    "the key is encrypted with '\(name.escapedForTerminal)', which is not read: write it anew with "
                        + "`ssh-keygen -p -Z aes256-ctr -f FILE`")
            case .wrongPassphrase: throw Self.failure(ExchangeFile.Failure.wrongPassphrase)
            case .tooManyRounds: throw Self.failure(ExchangeFile.Failure.tooManyIterations)
            case .malformed:
                throw Failure(
                    status: errSecDecode, "the key in OpenSSH's form is damaged: fetch it again, or make a new one")
            }
        } catch let error as SystemLibraryError {
            throw Failure(status: errSecUnimplemented, "\(error) (in Debian 12 the package is libbotan-2-19)")
        }
    }

    /// One certificate or key in DER.
    private static func content(_ der: Data) throws -> Content? {
        if let certificate = try? Certificate(der: der) { return .certificate(certificate) }
        let key =
            try consistent { try KeyData(sec1: der) }
            ?? (try? KeyData(der, type: .rsa, keyClass: .private)) ?? (try? PublicKeyInfo(der: der))?.key
            ?? (try? KeyData(der, type: .rsa, keyClass: .public))
        return key.map(Content.key)
    }

    /// Returns the key that `read` reads; nil if it cannot.
    private static func consistent(_ read: () throws -> KeyData) throws -> KeyData? {
        do {
            return try read()
        } catch let error as CertificateError where error == KeyData.contradictory {
            throw Failure(
                status: errSecDecode,
                "a private key of the file contradicts its public key or its curve: it was cut or put together "
                    + "wrongly; export it again")
        } catch {
            return nil
        }
    }

    private mutating func readExchange(_ bytes: Data, passphrase: () throws -> SecretBytes) throws {
        let file: ExchangeFile
        do {
            file = try ExchangeFile(bytes, passphrase: nil)
        } catch ExchangeFile.Failure.wrongPassphrase {
            file = try Self.exchangeFile(bytes, try asked(passphrase))
        } catch {
            throw Self.failure(error)
        }
        for key in file.keys {
            guard try take(privateKeyInfo: key) else { throw Self.failure(ExchangeFile.Failure.undecodable) }
        }
        take(file.certificates)
    }

    private static func exchangeFile(_ bytes: Data, _ passphrase: SecretBytes) throws -> ExchangeFile {
        do {
            return try ExchangeFile(bytes, passphrase: passphrase)
        } catch {
            throw failure(error)
        }
    }

    private static func failure(_ error: any Error) -> Failure {
        switch error as? ExchangeFile.Failure {
        case .wrongPassphrase: Failure(status: errSecAuthFailed, "the passphrase of the file is wrong: try again")
        case .malformed, .tooLarge: unreadable
        case .tooManyIterations:
            Failure(
                status: errSecDecode,
                "the file asks for more iterations of its passphrase than any program uses: export it again")
        case .undecodable:
            Failure(status: errSecDecode, "a part of the file is damaged or of an unknown kind: export it again")
        case nil: Failure(status: errSecUnimplemented, "a key under a passphrase needs OpenSSL: \(error)")
        }
    }
}
