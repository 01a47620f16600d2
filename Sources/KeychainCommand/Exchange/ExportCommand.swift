import Access
import ArgumentParser
import Certificates
import Foundation
import KeychainModel
import KeychainServices
import Vault

/// Writes a certificate or a key.
struct ExportCommand: DocumentedCommand {
    static let summary = "Write a certificate or a key to standard output."
    static let details = """
        Without a choice, the certificate with this label, else the public key. A private key is written only with \
        --private, as PKCS#8 and not encrypted: whoever reads the output has it. A person is asked if the key wants it. \
        A key of the enclave never leaves it.
        """
    static let examples = [
        Example("A certificate", "keychain export www > www.pem"),
        Example("A public key in DER", "keychain export www --public --format der > www.der"),
        Example(
            "Certificate and private key as PKCS#12",
            "(keychain export www --certificate; keychain export www --private) | openssl pkcs12 -export > www.p12"),
    ]
    static let configuration: CommandConfiguration = documented("export")

    enum Part: String, EnumerableFlag {
        case certificate, `public`, `private`

        static func help(for part: Part) -> ArgumentHelp? {
            switch part {
            case .certificate: "The certificate, or all with this label."
            case .public: "The public key."
            case .private: "The private key, for everybody to read."
            }
        }
    }

    @OptionGroup var selection: KeySelection

    @Flag(exclusivity: .exclusive)
    var part: Part?

    @Option(help: "How to write it: pem or der.")
    var format: DocumentFormat = .pem

    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: "Print any error as JSON.")
    var json = false

    func run() throws {
        let session = try KeySession.forLooking(passcode)
        try format.refuseTerminal()
        let certificates = part == nil || part == .certificate ? try certificates(session) : []
        if !certificates.isEmpty {
            guard certificates.count == 1 || format == .pem else {
                throw Failure(
                    status: errSecParam,
                    "\(certificates.count) certificates are called '\(selection.key.escapedForTerminal)': write them "
                        + "with --format pem, or choose one with --group")
            }
            for der in certificates { try format.write(der, as: "CERTIFICATE") }
            return
        }
        guard part != .certificate else {
            throw Failure(
                status: errSecItemNotFound,
                "there is no certificate '\(selection.key.escapedForTerminal)': `keychain import` stores one")
        }
        let pair = try selection.one(in: session)
        var options = try itemPassword.authentication()
        guard part == .private else {
            let key = try session.publicKey(of: pair, options)
            let encoding: PublicKeyFormat = format == .pem ? .pem : .der
            return try StandardOutput.write(encoding.encoding(of: key, comment: ""))
        }
        options.prompt = "hand out the private key '\(pair.name)'."
        try writePrivateKey(session.privateKey(of: pair, options), pair)
    }

    private func writePrivateKey(_ key: SecKey, _ pair: KeyPair) throws(Failure) {
        guard key.kept == nil else {
            throw Failure(
                status: errSecUnimplemented,
                "the key '\(pair.name)' is in the enclave and cannot leave it: make a new one where it is needed")
        }
        let encoding: Data?
        do {
            encoding = try key.keyData.privateKeyInfo()
        } catch {
            throw Failure(status: errSecDecode, "the private key cannot be written: \(error)")
        }
        try format.write(encoding ?? Data(), as: "PRIVATE KEY")
    }

    private func certificates(_ session: KeySession) throws(Failure) -> [Data] {
        let query = ItemQuery(
            itemClass: .certificate, attributes: [.label: .string(selection.key)], accessGroup: selection.group,
            synchronizable: .any)
        do {
            return try session.session.vault.copy(query, includingValues: true, as: session.session.client)
                .compactMap(\.value)
        } catch {
            if error == .itemNotFound { return [] }
            throw Failure(error)
        }
    }
}
