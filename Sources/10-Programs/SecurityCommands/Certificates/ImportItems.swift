import Bytes
import Certificates
import CommandKit
import FoundationEssentials
import KeyCommands
import StatusCodes
import VaultInterface
import VaultKeys

/// `import`.
struct ImportItems: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "wxAh", values: "ktfPT", pairs: "a", operandFirst: true)
    let usage =
        "inputfile [-k keychain] [-t pub|priv|session|cert|agg] [-f openssl|openssh1|openssh2|bsafe|raw|pkcs7|pkcs8|"
        + "pkcs12|netscape|x509|pemseq] [-w] [-x] [-P passphrase] [-A] [-T application] ..."

    private static let operation = "SecKeychainItemImport"
    private static let types: Set<String> = ["pub", "priv", "session", "cert", "agg"]
    static let formats: Set<String> = [
        "openssl", "openssh1", "openssh2", "bsafe", "raw", "pkcs7", "pkcs8", "pkcs12", "netscape", "x509", "pemseq",
    ]

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        guard let path = options.operands.first, options.operands.count == 1 else {
            throw SecurityFailure.usage("name one file, before the options")
        }
        guard options.values("t").allSatisfy(Self.types.contains) else {
            throw SecurityFailure.usage("-t takes pub, priv, session, cert or agg")
        }
        guard options.values("f").allSatisfy(Self.formats.contains) else {
            throw SecurityFailure.usage("-f takes one of the formats")
        }
        guard !options.contains("a") else {
            throw SecurityFailure.other("\(Self.operation): items have no extended attributes here: leave out -a")
        }
        let keychain = try tool.keychain(options.value("k"))
        let file = try read(path, options.value("P"))
        // Like on macOS, the contents decide what the file is. What -t and -f say may be wrong in scripts that work.
        let counts = try store(file, named: Self.name(of: path), in: keychain)
        if options.contains("x") {
            tool.complain(
                "-x: what may use the key can read it here, too. `keychain key create --enclave` makes a key that cannot "
                    + "leave")
        }
        for (count, one, more) in [
            (counts.identities, "identity", "identities"), (counts.keys, "key", "keys"),
            (counts.certificates, "certificate", "certificates"),
        ] where count > 0 {
            try tool.print("\(count) \(count == 1 ? one : more) imported.")
        }
    }

    private func read(_ path: String, _ passphrase: String?) throws -> ImportedFile {
        let bytes: Data
        do {
            bytes = try BytesInput.readExport(path, limit: 16 << 20)
        } catch {
            throw SecurityFailure.other("Error reading infile \(path.escapedForTerminal): \(Failure(error).message)")
        }
        do {
            return try ImportedFile(bytes) {
                try GivenPassword(passphrase).secret(orAsking: "password for \(path.escapedForTerminal): ")
            }
        } catch let failure as Failure {
            // Whatever goes wrong with the file, macOS ends with 1.
            let words =
                switch failure.status {
                case errSecAuthFailed: SecurityWords.text(for: errSecPkcs12VerifyFailure)
                case errSecDecode: "\(SecurityWords.text(for: errSecUnknownFormat)) (\(failure.message))"
                default: failure.message
                }
            throw SecurityFailure.other("\(Self.operation): \(words)")
        }
    }

    private struct Counts {
        var (identities, keys, certificates) = (0, 0, 0)
    }

    private func store(_ file: ImportedFile, named name: String, in keychain: OpenedKeychain) throws -> Counts {
        var certificates: [Certificate] = []
        var keys: [KeyData] = []
        for content in file.contents {
            switch content {
            case .certificate(let certificate): certificates.append(certificate)
            case .key(let key): keys.append(key)
            }
        }
        let store = KeyStore(session: KeyCommandSession(keychain.session))
        var counts = Counts()
        var newHashes: Set<Data> = []
        for key in keys {
            let own = certificates.first { $0.publicKeyHash == key.applicationLabel }
            do {
                let control = KeyProtection.standard.accessControl(isEnclave: false)
                _ = try store.add(VaultKey(key), label: own?.subjectSummary ?? name, control)
                newHashes.insert(key.applicationLabel)
                if own == nil || key.keyClass == .public { counts.keys += 1 } else { counts.identities += 1 }
            } catch VaultError.duplicateItem {
                continue
            } catch let error as VaultError {
                throw SecurityFailure.vault(error, during: Self.operation)
            }
        }
        for certificate in certificates {
            let isNew = try keychain.add(certificate)
            let isOfNewKey = newHashes.contains(certificate.publicKeyHash)
            if isNew, !isOfNewKey { counts.certificates += 1 }
        }
        guard counts.identities + counts.keys + counts.certificates > 0 else {
            throw SecurityFailure.other("\(Self.operation): \(SecurityWords.text(for: errSecDuplicateItem))")
        }
        return counts
    }

    /// The file's name without its extension, for keys that no certificate names.
    private static func name(of path: String) -> String {
        path == "-" ? "imported" : URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
    }
}

/// `add-certificates`.
struct AddCertificates: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "h", values: "k")
    let usage = "[-k keychain] file ..."

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        guard !options.operands.isEmpty else { throw SecurityFailure.usage("name a file with a certificate") }
        let name = options.value("k")
        let keychain = try tool.keychain(name)
        var hasFailed = false
        for path in options.operands {
            do {
                for certificate in try CertificateFile.read(path) where try !keychain.add(certificate) {
                    hasFailed = true
                    tool.complain(
                        "\(path.escapedForTerminal): already in \(name?.escapedForTerminal ?? "default keychain")")
                }
            } catch {
                hasFailed = true
                tool.complain(SecurityFailure(error).message)
            }
        }
        if hasFailed { throw SecurityFailure.reported }
    }
}

/// A file with certificates.
enum CertificateFile {
    static func read(_ path: String) throws -> [Certificate] {
        do {
            let file = try ImportedFile(BytesInput.readExport(path, limit: 16 << 20)) {
                throw Failure(status: errSecDecode, "it is no file with certificates alone")
            }
            let certificates = file.contents.compactMap { content in
                if case .certificate(let certificate) = content { certificate } else { nil }
            }
            guard !certificates.isEmpty else { throw Failure(status: errSecDecode, "it has no certificate") }
            return certificates
        } catch {
            throw SecurityFailure.other("Error reading file \(path.escapedForTerminal): \(Failure(error).message)")
        }
    }
}
