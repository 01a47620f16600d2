import Bytes
import Certificates
import FoundationEssentials
import KeyCryptography
import KeychainModel
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

    /// Reads PEM, or DER of one certificate, key or PKCS#12 file.
    ///
    /// - Parameter passphrase: Called only if the file has a passphrase.
    init(_ bytes: Data, passphrase: () throws -> SecretBytes) throws {
        if let documents = try Self.documents(in: bytes) {
            for document in documents { try read(document) }
        } else if let content = Self.content(Data(bytes)) {
            contents = [content]
        } else {
            try readExchange(bytes, passphrase: passphrase)
        }
        guard !contents.isEmpty else { throw Self.unreadable }
        for case .key(let key) in contents {
            do throws(KeyError) {
                try SoftwareKeys.checkImported(key)
            } catch {
                throw Failure(status: error.osStatus, "a key of the file is refused; export it again: \(error)")
            }
        }
    }

    private static let encrypted = Failure(
        status: errSecDecode,
        "the key in the file is encrypted: convert it with "
            + "`openssl pkcs12 -export -nocerts -inkey FILE -out FILE.p12`, and import that file")
    private static let unreadable = Failure(
        status: errSecDecode,
        "the file holds no certificate and no key: it can be PEM, DER, PKCS#8 or PKCS#12, with RSA keys or keys on the "
            + "NIST curves")

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
            guard let content = Self.content(document.der) else {
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
        default:
            // Other documents beside keys, such as the parameters of a curve or a request.
            return
        }
    }

    /// One certificate or key in DER.
    private static func content(_ der: Data) -> Content? {
        if let certificate = try? Certificate(der: der) { return .certificate(certificate) }
        let key =
            (try? KeyData(privateKeyInfo: der)) ?? (try? KeyData(der, type: .rsa, keyClass: .private))
            ?? (try? KeyData(sec1: der)) ?? (try? PublicKeyInfo(der: der))?.key
            ?? (try? KeyData(der, type: .rsa, keyClass: .public))
        return key.map(Content.key)
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
            guard let key = try? KeyData(privateKeyInfo: key) else { throw Self.unreadable }
            contents.append(.key(key))
        }
        for der in file.certificates {
            guard let certificate = try? Certificate(der: der) else { throw Self.unreadable }
            contents.append(.certificate(certificate))
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
