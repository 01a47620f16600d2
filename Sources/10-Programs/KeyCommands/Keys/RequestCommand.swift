import ArgumentParser
import Certificates
import CommandKit
import FoundationEssentials
import KeyCryptography
import KeychainModel
import StatusCodes
import VaultKeys

/// Writes a request for a certificate.
struct RequestCommand: DocumentedCommand {
    static let summary = "Write a request for a certificate (PKCS#10), signed with the key."
    static let details = """
        The subject begins with its most specific part, as in 'CN=www.example.com,O=Example,C=DE' (RFC 4514). Its \
        parts are CN, O, OU, C, ST, L, STREET, DC, UID, E or an object identifier. A comma in a value is written as \
        '\\,'. A person is asked if the key requires it. Keys of the enclave sign like others.
        """
    static let examples = [
        Example(
            "For a web server",
            #"""
            keychain key csr www --subject 'CN=www.example.com,O=Example' \
                --dns www.example.com > www.csr
            """#),
        Example("Look at it", "openssl req -in www.csr -noout -text -verify"),
        Example("Store what the authority sends", "keychain import www.pem --label www"),
    ]
    static let configuration: CommandConfiguration = documented("csr")

    @OptionGroup var selection: KeySelection

    @Option(help: ArgumentHelp("The subject of the certificate.", valueName: "name"))
    var subject: String

    @Option(help: ArgumentHelp("A host name for the certificate; may be repeated.", valueName: "host"))
    var dns: [String] = []

    @Option(help: "The form of the request: pem or der.")
    var format: DocumentFormat = .pem

    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .jsonErrors)
    var json = false

    func validate() throws {
        for name in dns where name.isEmpty || !name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            throw ValidationError("--dns takes a host name in ASCII, as in www.example.com")
        }
    }

    func run() throws {
        let name: DistinguishedName
        do throws(NameTextError) {
            name = try DistinguishedName(text: subject)
        } catch {
            throw Failure.usage(error.description)
        }
        let session = try KeyCommandSession.forLooking(passcode)
        let pair = try selection.one(in: session)
        try format.refuseTerminal()
        var options = try itemPassword.authentication()
        options.prompt = "sign a request for a certificate with the key '\(pair.name)'."
        let key = try session.privateKey(of: pair, options)
        do {
            let request = try CertificateRequest(subject: name, key: key.keyData, hostNames: dns)
            let signature = try session.result {
                try key.sign(request.body, by: request.algorithm.keyAlgorithm)
            }
            try format.write(request.encoded(signature: signature), as: "CERTIFICATE REQUEST")
        } catch let error as CertificateError {
            throw Failure(status: errSecParam, "the request cannot be written: \(error)")
        }
    }
}

/// The form of a certificate, a request or a key.
enum DocumentFormat: String, CaseIterable, ExpressibleByArgument {
    case pem, der

    func refuseTerminal() throws {
        guard self == .pem || !StandardOutput.isTerminal else {
            throw Failure(
                status: errSecParam,
                "the result is binary and standard output is a terminal: send it to a file, or say --format pem")
        }
    }

    /// - Parameter kind: What stands in the lines around PEM.
    func write(_ der: Data, as kind: String) throws {
        try StandardOutput.write(self == .pem ? PEM.encoding(der, as: kind) : der)
    }
}

extension CertificateRequest.SignatureAlgorithm {
    fileprivate var keyAlgorithm: KeyAlgorithmName {
        let name: SignatureName =
            switch self {
            case .ecdsaSHA256: .ecdsaSHA256
            case .ecdsaSHA384: .ecdsaSHA384
            case .ecdsaSHA512: .ecdsaSHA512
            case .rsaSHA256: .pkcs1SHA256
            case .ed25519: .ed25519
            }
        return name.algorithm(isDigest: false)
    }
}
