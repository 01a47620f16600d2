import ArgumentParser
import Certificates
import CommandKit
import Crypto
import FoundationEssentials
import KeychainModel
import SSHAgent
import VaultInterface
import VaultKeys

/// Shows everything about a key except its secret.
struct KeyInfoCommand: DocumentedCommand {
    static let summary = "Show what is known about a key, without its secret."
    static let details = """
        Prints the key's type; where its private half is kept, when it can be used and what that takes; its hash, by \
        which `keychain key` finds it; the fingerprint that ssh shows; and the certificates that are here for it. \
        Nobody is asked.
        """
    static let examples = [
        Example("Show it", "keychain key info laptop"),
        Example("Its fingerprint alone", "keychain key info laptop --json | jq -r .fingerprint"),
    ]
    static let configuration: CommandConfiguration = documented("info")

    @OptionGroup var selection: KeySelection
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var key: KeySummary
        var fingerprint: String?
        var certificates: [String]

        private enum Keys: CodingKey { case fingerprint, certificates }

        func encode(to encoder: any Encoder) throws {
            try key.encode(to: encoder)
            var members = encoder.container(keyedBy: Keys.self)
            try members.encodeIfPresent(fingerprint, forKey: .fingerprint)
            try members.encode(certificates, forKey: .certificates)
        }
    }

    func run() throws {
        let session = try KeyCommandSession.forLooking(passcode)
        let pair = try selection.one(in: session, includingSecretKeys: true)
        let summary = KeySummary(pair, enclave: try session.status().enclave)
        let blob = pair.publicKey.flatMap { SSHPublicKey($0.keyData)?.blob }
        let fingerprint = blob.map { blob in
            // As ssh-keygen -l prints it.
            "SHA256:" + Data(SHA256.hash(data: blob)).base64EncodedString().prefix { $0 != "=" }
        }
        let certificates = try StoredCertificate.all(in: session.session, group: pair.group)
            .filter { $0.certificate.publicKeyHash == pair.hash }.map(\.name)
        if json {
            return try StandardOutput.write(
                json: Answer(key: summary, fingerprint: fingerprint, certificates: certificates))
        }
        let rows = [
            ["label", summary.label?.forTerminal ?? ""],
            ["tag", summary.tag?.forTerminal ?? ""],
            ["type", summary.type],
            ["kept in", summary.kept],
            ["group", summary.group.escapedForTerminal],
            ["accessible", summary.accessible ?? ""],
            ["requires", summary.requires?.joined(separator: ", ") ?? ""],
            ["hash", summary.hash],
            ["fingerprint", fingerprint ?? ""],
            ["certificates", certificates.map(\.escapedForTerminal).joined(separator: ", ")],
        ]
        try StandardOutput.write(line: Table(rows.filter { $0.last?.isEmpty == false }).text(aligned: true))
    }
}
