import Bytes
import Certificates
import CommandKit
import FoundationEssentials
import KeyCommands
import OpenSSLCertificates
import StatusCodes
import TrustSettings
import VaultInterface
import VaultKeys

/// `cms`.
struct SignMessage: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "CDEGOPSTnsvd", values: "HNYZcehikoprut")
    let usage =
        "-S -N name [-Z hash] [-H SHA1|SHA256|SHA384|SHA512] [-G] [-T] | -D [-c content] [-n] | -E -r name,... "
        + "| -O -r name,... [-k keychain] [-i infile] [-o outfile]"

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        guard options.operands.isEmpty else { throw SecurityFailure.usage("the file is named with -i") }
        guard !options.contains("C"), !options.contains("e") else {
            throw SecurityFailure.other(
                "messages under a key of another message (-C, -e) are not here: encrypt with -E for recipients")
        }
        let modes = "SDEO".filter { options.contains($0) }
        guard let mode = modes.first, modes.count == 1 else { throw SecurityFailure.usage("say -S, -D, -E or -O") }
        let keychains = try options.value("k").map { [try tool.keychain($0)] } ?? tool.searched([])
        let output: Data
        switch mode {
        case "S": output = try signed(options, keychains)
        case "D": output = try opened(options, keychains, tool)
        case "E":
            let recipients = try recipients(options, keychains)
            output = try reporting { try SignedMessage.encrypting(input(options), for: recipients) }
        default:
            let recipients = try recipients(options, keychains)
            output = try reporting { try SignedMessage.list(of: recipients) }
        }
        if mode == "D", options.contains("n") { return }
        if let path = options.value("o") { return try OutputFile.write(output, to: path) }
        try StandardOutput.write(output)
    }

    private func input(_ options: ShortOptions) throws -> Data {
        try Self.file(options.value("i") ?? "-")
    }

    private static func file(_ path: String) throws -> Data {
        do {
            return try BytesInput.readExport(path, limit: SignedMessage.largest)
        } catch {
            throw SecurityFailure.other(
                "unable to open \"\(path.escapedForTerminal)\" for reading: \(Failure(error).message)")
        }
    }

    private func signed(_ options: ShortOptions, _ keychains: [OpenedKeychain]) throws -> Data {
        guard let digest = SignedMessage.Digest(rawValue: options.value("H") ?? "SHA256") else {
            throw SecurityFailure.usage(
                "-H takes \(SignedMessage.Digest.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        let (name, hash) = (options.value("N"), options.value("Z"))
        guard name != nil || hash != nil else { throw SecurityFailure.usage("-N or -Z is needed: who signs") }
        let identities = try keychains.flatMap { try $0.identities() }
        let ders = Set(identities.map(\.certificate.der))
        let all = try keychains.flatMap { try $0.certificates() }
        let named = identities.filter { identity in
            if let hash {
                let keyIdentifier = identity.certificate.certificate.subjectKeyIdentifier?.hexadecimal(uppercase: true)
                return identity.certificate.hasHash(hash) || keyIdentifier == hash.uppercased()
            }
            return name.map { identity.certificate.match($0) == .whole || identity.certificate.hasAddress($0) } ?? false
        }
        guard let identity = named.first else {
            throw SecurityFailure.vault(
                .itemNotFound, during: "the identity \"\((name ?? hash ?? "").escapedForTerminal)\"")
        }
        guard Set(named.map(\.certificate.der)).count == 1 else {
            throw SecurityFailure.other(
                "\"\((name ?? "").escapedForTerminal)\" is ambiguous, matches more than one identity: name it by its hash "
                    + "with -Z")
        }
        let certificate = identity.certificate
        let issuers = all.filter { !ders.contains($0.der) }.map(\.certificate)
        var path = [certificate.certificate]
        // More issuers than any path has.
        while let last = path.last, path.count < 8 {
            guard
                let issuer = issuers.first(where: {
                    $0.subject.normalizedContent == last.issuer.normalizedContent && !path.contains($0)
                })
            else { break }
            path.append(issuer)
        }
        let content = try input(options)
        let key = try certificate.keychain.privateKeyInfo(of: identity.pair, to: "sign a message with")
        return try reporting {
            try SignedMessage.signing(
                content, key: key, certificates: path.map(\.encoded), digest: digest, isDetached: options.contains("T"))
        }
    }

    private func opened(
        _ options: ShortOptions, _ keychains: [OpenedKeychain], _ tool: SecurityTool
    ) throws -> Data {
        let message = try input(options)
        let content = try options.value("c").map(Self.file)
        switch try reporting({ try SignedMessage.read(message, content: content) }) {
        case .signed(let content, let signers, let others):
            let known = try keychains.flatMap { try $0.certificates().map(\.der) }
            for signer in signers {
                guard let use = CertificateUse("basic", text: nil, isClient: true) else { continue }
                let verdict = try TrustCheck(certificates: [signer] + others + known, use: use).verdict()
                if let error = verdict.name {
                    tool.complain("the signature is valid, and its certificate is not trusted (\(error))")
                }
            }
            if signers.isEmpty { tool.complain("nobody signed the message") }
            return content
        case .encrypted:
            for identity in try keychains.flatMap({ try $0.identities() }) where !identity.pair.isInEnclave {
                let certificate = identity.certificate
                let key = try certificate.keychain.privateKeyInfo(of: identity.pair, to: "open a message with")
                if let content = try? SignedMessage.decrypting(message, key: key, certificate: certificate.der) {
                    return content
                }
            }
            throw SecurityFailure.vault(.itemNotFound, during: "the key of a recipient")
        }
    }

    private func recipients(_ options: ShortOptions, _ keychains: [OpenedKeychain]) throws -> [Data] {
        let names = options.values("r").flatMap { $0.split(separator: ",").map(String.init) }
        guard !names.isEmpty else { throw SecurityFailure.usage("-r is needed: names or mail addresses") }
        let all = try keychains.flatMap { try $0.certificates() }
        return try names.map { name in
            let found = all.first { $0.match(name) == .whole } ?? all.first { $0.hasAddress(name) }
            guard let found else {
                throw SecurityFailure.vault(.itemNotFound, during: "a certificate for \"\(name.escapedForTerminal)\"")
            }
            return found.der
        }
    }

    private func reporting<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let failure as SignedMessage.Failure {
            let reason =
                switch failure {
                case .malformed: "the file is no message of CMS, or it is damaged"
                case .invalidSignature:
                    "a signature does not belong to the content; content that is in another file is named with -c"
                case .wrongKey: "the message is for another key"
                case .unusableKey: "the key does not fit the certificate, or it cannot be used for this"
                }
            throw SecurityFailure.other("problem with the message: \(reason)")
        }
    }
}
