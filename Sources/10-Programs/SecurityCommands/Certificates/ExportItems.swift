import Bytes
import CLibrary
import Certificates
import CommandKit
import FoundationEssentials
import KeyCommands
import OpenSSLCertificates
import StatusCodes
import VaultInterface
import VaultKeys

/// `export`.
struct ExportItems: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "wph", values: "ktfPo")
    let usage =
        "[-k keychain] [-t certs|allKeys|pubKeys|privKeys|identities|all] [-f openssl|pkcs7|pkcs8|pkcs12|pemseq|x509] "
        + "[-w] [-p] [-P passphrase] [-o outfile]"

    private static let operation = "SecKeychainItemExport"

    private enum Kind: String {
        case certs, allcerts, allKeys, pubKeys, privKeys, identities, all

        var hasCertificates: Bool { [.certs, .allcerts, .all].contains(self) }
        var hasPrivateKeys: Bool { [.allKeys, .privKeys, .all].contains(self) }
        var hasPublicKeys: Bool { [.allKeys, .pubKeys].contains(self) }
    }

    private enum Format: String {
        case openssl, pkcs7, pkcs8, pkcs12, pemseq, x509
    }

    /// What is exported.
    private struct Items {
        var certificates: [Data] = []
        var privateKeys: [IdentitiesFile.Identity] = []
        var publicKeys: [Data] = []

        var count: Int { certificates.count + privateKeys.count + publicKeys.count }
    }

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        guard options.operands.isEmpty else { throw SecurityFailure.usage("the keychain is named with -k") }
        guard let kind = Kind(rawValue: options.value("t") ?? "all") else {
            throw SecurityFailure.usage("-t takes one of the types")
        }
        let name = options.value("f")
        guard name.map(ImportItems.formats.contains) ?? true else {
            throw SecurityFailure.usage("-f takes one of the formats")
        }
        let format = name.flatMap(Format.init)
        guard name == nil || format != nil else {
            throw SecurityFailure.other(
                "\(Self.operation): the format \(name ?? "") is not written here: `keychain key public` has OpenSSH's")
        }
        let keychains = try options.value("k").map { [try tool.keychain($0)] } ?? tool.searched([])
        let items = try items(kind, keychains)
        guard items.count > 0 else { throw SecurityFailure.status(errSecItemNotFound, during: Self.operation) }
        let output = try encoded(items, format, options)
        guard let path = options.value("o") else { return try StandardOutput.write(output) }
        try write(output, to: path)
        tool.complain(plain: "...\(output.count) bytes written to \(path.escapedForTerminal)")
    }

    private func items(_ kind: Kind, _ keychains: [OpenedKeychain]) throws -> Items {
        var items = Items()
        for keychain in keychains {
            if kind == .identities {
                for identity in try keychain.identities() {
                    items.privateKeys.append(
                        .init(
                            key: try keychain.privateKeyInfo(of: identity.pair, to: "hand out"),
                            certificate: identity.certificate.der, name: identity.certificate.name))
                }
                continue
            }
            if kind.hasCertificates { items.certificates += try keychain.certificates().map(\.der) }
            guard kind.hasPrivateKeys || kind.hasPublicKeys else { continue }
            for pair in try keychain.keys() {
                if kind.hasPrivateKeys, pair.hasPrivateHalf {
                    let key = try keychain.privateKeyInfo(of: pair, to: "hand out")
                    items.privateKeys.append(.init(key: key, certificate: nil, name: pair.name))
                }
                if kind.hasPublicKeys, let key = pair.publicKey {
                    items.publicKeys.append(try PublicKeyFormat.der.encoding(of: key, comment: ""))
                }
            }
        }
        return items
    }

    private func encoded(_ items: Items, _ chosen: Format?, _ options: ShortOptions) throws -> Data {
        // The default of macOS: a sequence for several things, else the form for the only one.
        let isIdentity = items.privateKeys.first?.certificate != nil
        let format = chosen ?? (items.count > 1 || isIdentity ? .pemseq : items.certificates.isEmpty ? .openssl : .x509)
        let isPEM = options.contains("p")
        func armored(_ der: Data, _ kind: String) -> Data { isPEM ? PEM.encoding(der, as: kind) : der }
        switch format {
        case .pkcs12:
            var identities = items.privateKeys
            var rest = items.certificates
            for index in identities.indices where identities[index].certificate == nil {
                // A key and its certificate that were collected apart belong together.
                let hash = (try? KeyData(privateKeyInfo: identities[index].key))?.applicationLabel
                guard let own = rest.firstIndex(where: { (try? Certificate(der: $0))?.publicKeyHash == hash }) else {
                    continue
                }
                identities[index].certificate = rest.remove(at: own)
            }
            guard items.publicKeys.isEmpty else { throw unfit("pkcs12", "public keys") }
            let phrase = try passphrase(options)
            return armored(try IdentitiesFile.encoding(identities, certificates: rest, passphrase: phrase), "PKCS12")
        case .pkcs7:
            guard items.privateKeys.isEmpty, items.publicKeys.isEmpty else { throw unfit("pkcs7", "keys") }
            return armored(try SignedMessage.list(of: items.certificates), "PKCS7")
        case .pemseq:
            return try sequence(items, options)
        case .x509:
            guard items.privateKeys.isEmpty, items.publicKeys.isEmpty else { throw unfit("x509", "keys") }
            guard items.certificates.count == 1 else { throw several("x509") }
            return armored(items.certificates.first ?? Data(), "CERTIFICATE")
        case .openssl, .pkcs8:
            guard items.count == 1, !isIdentity else { throw several(format.rawValue) }
            if let certificate = items.certificates.first { return armored(certificate, "CERTIFICATE") }
            if let key = items.publicKeys.first { return armored(key, "PUBLIC KEY") }
            let key = items.privateKeys.first?.key ?? Data()
            guard format == .pkcs8 || options.contains("w") else { return armored(key, "PRIVATE KEY") }
            let phrase = try passphrase(options)
            return armored(try IdentitiesFile.encrypting(key: key, passphrase: phrase), "ENCRYPTED PRIVATE KEY")
        }
    }

    private func sequence(_ items: Items, _ options: ShortOptions) throws -> Data {
        let phrase = try options.contains("w") && !items.privateKeys.isEmpty ? passphrase(options) : nil
        var output = Data()
        for identity in items.privateKeys {
            if let certificate = identity.certificate { output += PEM.encoding(certificate, as: "CERTIFICATE") }
            if let phrase {
                let encrypted = try IdentitiesFile.encrypting(key: identity.key, passphrase: phrase)
                output += PEM.encoding(encrypted, as: "ENCRYPTED PRIVATE KEY")
            } else {
                output += PEM.encoding(identity.key, as: "PRIVATE KEY")
            }
        }
        for certificate in items.certificates { output += PEM.encoding(certificate, as: "CERTIFICATE") }
        for key in items.publicKeys { output += PEM.encoding(key, as: "PUBLIC KEY") }
        return output
    }

    private func passphrase(_ options: ShortOptions) throws -> SecretBytes {
        try GivenPassword(options.value("P")).newSecret("password for the file: ", "retype password for the file: ")
    }

    private func unfit(_ format: String, _ what: String) -> SecurityFailure {
        .other("\(Self.operation): the format \(format) has no \(what): choose others with -t")
    }

    private func several(_ format: String) -> SecurityFailure {
        .other("\(Self.operation): the format \(format) has one certificate or key: say -f pemseq, or choose with -t")
    }

    /// Nobody else may read what has private keys.
    private func write(_ bytes: Data, to path: String) throws {
        try OutputFile.write(bytes, to: path)
    }
}

/// A file that `-o` names. Nobody else can read it.
enum OutputFile {
    static func write(_ bytes: Data, to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw SecurityFailure.other(
                "Error writing to \(path.escapedForTerminal): \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        try FileOutput.write(bytes, to: descriptor)
    }
}
