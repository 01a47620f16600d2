import ArgumentParser
import Certificates
import CommandKit
import FoundationEssentials
import KeychainModel
import StatusCodes
import VaultInterface
import VaultKeys

/// Shows and deletes certificates.
struct CertificateCommand: DocumentedCommand {
    static let summary = "List, show and delete certificates."
    static let details = """
        `keychain import` stores certificates, `keychain export` writes them, and `keychain key csr` asks an authority \
        for one. You name a certificate by its label, by its subject, or by the first 8 or more digits of its \
        fingerprint (SHA-256), which `keychain cert list` shows.
        """
    static let examples = [
        Example("What is here, and until when", "keychain cert list"),
        Example("Take one from an authority", "keychain import www.pem --label www"),
        Example("Use it with another program", "keychain export www > www.pem"),
    ]
    static let configuration = documented(
        "cert",
        subcommands: [ListCertificatesCommand.self, CertificateInfoCommand.self, DeleteCertificateCommand.self])
}

/// Lists the certificates.
struct ListCertificatesCommand: DocumentedCommand {
    static let summary = "List the certificates in the keychain."
    static let details = """
        One line for each certificate: its label, who issued it, the day until which it is valid, whether its private \
        key is here, the beginning of its fingerprint and its access group. On a terminal they are in columns, \
        otherwise they are separated by tabs.
        """
    static let examples = [
        Example("Everything", "keychain cert list"),
        Example(
            "What expires in a script's sight",
            "keychain cert list --json | jq -r '.[] | select(.isExpired) | .label'"),
    ]
    static let configuration: CommandConfiguration = documented("list", aliases: ["ls"])

    @Option(help: ArgumentHelp("Only certificates of this access group.", valueName: "group"), completion: .groups)
    var group: String?

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func run() throws {
        let session = try KeyCommandSession.forLooking(passcode)
        var damaged = 0
        let all = try StoredCertificate.all(in: session.session, group: group) { damaged += 1 }
        let keys = try session.inventory(nil)
        let summaries = all.map { CertificateSummary($0, keys) }
        if json {
            try StandardOutput.write(json: summaries)
        } else if !all.isEmpty {
            let rows = summaries.map { summary in
                [
                    summary.label.escapedForTerminal, (summary.issuer ?? "").escapedForTerminal,
                    String(summary.notAfter.prefix(10)) + (summary.isExpired ? " expired" : ""),
                    summary.hasPrivateKey ? "with key" : "", String(summary.fingerprint.prefix(16)),
                    summary.group.escapedForTerminal,
                ]
            }
            try StandardOutput.write(
                Table(rows, heads: ["certificate", "issuer", "valid until", "key", "fingerprint", "group"]))
        }
        guard damaged == 0 else {
            throw Failure(
                status: errSecDecode,
                "\(damaged) damaged \(damaged == 1 ? "item was" : "items were") left out: "
                    + "`keychain status --verify` names them")
        }
    }
}

/// Chooses the certificate that a command is about.
struct CertificateSelection: ParsableArguments {
    @Argument(
        help: "The certificate's label, its subject, or the first 8 or more digits of its fingerprint.",
        completion: .certificates)
    var certificate: String

    @Option(help: ArgumentHelp("Only certificates of this access group.", valueName: "group"), completion: .groups)
    var group: String?

    func one(in session: VaultSession) throws -> StoredCertificate {
        try StoredCertificate.one(named: certificate, in: session, group: group)
    }
}

/// Shows everything about a certificate.
struct CertificateInfoCommand: DocumentedCommand {
    static let summary = "Show what a certificate says."
    static let details = """
        Prints the subject and the issuer, the names that the certificate is for, when it is valid, the kind of its \
        key, and whether the private key is here. This says nothing about trust: `openssl verify` does, with \
        `keychain export`.
        """
    static let examples = [
        Example("Show it", "keychain cert info www"),
        Example("Everything that OpenSSL reads", "keychain export www | openssl x509 -noout -text"),
    ]
    static let configuration: CommandConfiguration = documented("info")

    @OptionGroup var selection: CertificateSelection
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func run() throws {
        let session = try KeyCommandSession.forLooking(passcode)
        let stored = try selection.one(in: session.session)
        let summary = CertificateSummary(stored, try session.inventory(nil))
        if json { return try StandardOutput.write(json: summary) }
        let rows = [
            ["label", summary.label],
            ["subject", summary.subject ?? ""],
            ["issuer", summary.issuer ?? ""],
            ["hosts", summary.hostNames.joined(separator: ", ")],
            ["e-mail", summary.emailAddresses.joined(separator: ", ")],
            ["valid from", Timestamp(stored.certificate.notBefore).shown],
            ["valid until", Timestamp(stored.certificate.notAfter).shown + (summary.isExpired ? " (expired)" : "")],
            ["serial number", summary.serialNumber],
            ["key", summary.keyType],
            ["private key", summary.hasPrivateKey ? "here" : "not here"],
            ["fingerprint", summary.fingerprint],
            ["group", summary.group],
        ]
        .map { $0.map(\.escapedForTerminal) }.filter { $0.last?.isEmpty == false }
        try StandardOutput.write(line: Table(rows).text(aligned: true))
    }
}

/// Deletes a certificate.
struct DeleteCertificateCommand: DocumentedCommand {
    static let summary = "Delete a certificate. Its key stays."
    static let details = """
        Exactly one certificate is deleted, or none. With --json, the number of deleted items is printed.
        """
    static let examples = [
        Example("By its label", "keychain cert delete www"),
        Example("One of several with a label, by its fingerprint", "keychain cert delete 3fa85f6457174562"),
    ]
    static let configuration: CommandConfiguration = documented("delete", aliases: ["rm"])

    @OptionGroup var selection: CertificateSelection
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var deleted: Int
    }

    func run() throws {
        let session = try KeyCommandSession.forLooking(passcode)
        let stored = try selection.one(in: session.session)
        let count = try session.session.perform(DeleteItems(ItemQuery(item: stored.item)))
        if json { try StandardOutput.write(json: Answer(deleted: count)) }
    }
}
