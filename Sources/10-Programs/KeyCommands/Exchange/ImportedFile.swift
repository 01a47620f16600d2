import Bytes
import Certificates
import CommandKit
import FoundationEssentials
import KeyCryptography
import OpenSSLCertificates
import StatusCodes
import VaultKeys

/// The certificates and keys of a file, in its order.
struct ImportedFile {
    enum Content {
        case certificate(Certificate)
        case key(KeyData)
    }

    private(set) var contents: [Content] = []
    /// What else is in the file, that the keychain has no type for, such as `Ed25519 key`.
    private(set) var leftOut: [String] = []

    /// Reads PEM, or DER of one certificate, key or PKCS#12 file.
    ///
    /// - Parameter passphrase: Called only if the file has a passphrase.
    init(_ bytes: Data, passphrase: () throws -> SecretBytes) throws {
        if let documents = try Self.documents(in: bytes) {
            for document in documents { try read(document) }
        } else if let content = try Self.content(Data(bytes)) {
            contents = [content]
        } else if let name = KeyData.foreignAlgorithm(ofPrivateKeyInfo: Data(bytes)) {
            leftOut = ["\(name) key"]
        } else {
            try readExchange(bytes, passphrase: passphrase)
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

    /// Whether a file is none of a password manager: PEM, or the beginning of DER.
    static func isMeant(_ bytes: Data) -> Bool {
        bytes.first == 0x30 && bytes.count > 1 && bytes[bytes.startIndex + 1] >= 0x80
            || bytes.prefix(1 << 20).firstRange(of: "-----BEGIN ") != nil && bytes.first != UInt8(ascii: "{")
                && bytes.first != UInt8(ascii: "[")
    }

    private static let encrypted = Failure(
        status: errSecDecode,
        "the key in the file is encrypted: convert it with "
            + "`openssl pkcs12 -export -nocerts -inkey FILE -out FILE.p12`, and import that file")
    private static let unreadable = Failure(
        status: errSecDecode,
        "the file holds no certificate and no key: it can be PEM, DER, PKCS#8 or PKCS#12, with RSA keys or keys on the "
            + "NIST curves")
    /// Which keys there are.
    static let types = "The keychain takes RSA keys and keys on the NIST curves"

    private static func documents(in bytes: Data) throws -> [PEM]? {
        guard bytes.firstRange(of: "-----BEGIN ") != nil else { return nil }
        guard let documents = PEM.documents(in: bytes) else {
            throw Failure(status: errSecDecode, "the file is PEM and damaged: fetch or export it again")
        }
        return documents
    }

    private mutating func read(_ document: PEM) throws {
        switch document.kind {
        case "CERTIFICATE", "X509 CERTIFICATE", "PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "PUBLIC KEY",
            "RSA PUBLIC KEY":
            guard !document.isEncrypted else { throw Self.encrypted }
            guard let content = try Self.content(document.der) else {
                if let name = KeyData.foreignAlgorithm(ofPrivateKeyInfo: document.der) {
                    return leftOut.append("\(name) key")
                }
                throw Failure(
                    status: errSecDecode,
                    "the part '\(document.kind.escapedForTerminal)' is damaged or of an unknown kind: keys can "
                        + "be RSA or on a NIST curve")
            }
            contents.append(content)
        case "ENCRYPTED PRIVATE KEY":
            throw Self.encrypted
        case "OPENSSH PRIVATE KEY":
            throw Failure(
                status: errSecDecode,
                "the key is in OpenSSH's own form: write a copy of it as PKCS#8 with "
                    + "`ssh-keygen -p -N '' -m PKCS8 -f COPY`")
        case "DSA PRIVATE KEY":
            leftOut.append("DSA key")
        default:
            // Other documents beside keys, such as the parameters of a curve or a request.
            return
        }
    }

    /// One certificate or key in DER.
    private static func content(_ der: Data) throws -> Content? {
        if let certificate = try? Certificate(der: der) { return .certificate(certificate) }
        let key =
            try consistent { try KeyData(privateKeyInfo: der) } ?? consistent { try KeyData(sec1: der) }
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
            file = try Self.exchangeFile(bytes, try passphrase())
        } catch {
            throw Self.failure(error)
        }
        for key in file.keys {
            if let name = KeyData.foreignAlgorithm(ofPrivateKeyInfo: key) {
                leftOut.append("\(name) key")
            } else if let key = try Self.consistent({ try KeyData(privateKeyInfo: key) }) {
                contents.append(.key(key))
            } else {
                throw Self.failure(ExchangeFile.Failure.undecodable)
            }
        }
        for der in file.certificates {
            if let certificate = try? Certificate(der: der) {
                contents.append(.certificate(certificate))
            } else {
                leftOut.append("certificate that is not X.509 version 1 to 3")
            }
        }
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
        case nil: Failure(status: errSecUnimplemented, "PKCS#12 files need OpenSSL: \(error)")
        }
    }
}
