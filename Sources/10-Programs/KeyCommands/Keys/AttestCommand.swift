import ArgumentParser
import Attestation
import Bytes
import CommandKit
import Crypto
import Enclave
import FoundationEssentials
import KeychainModel
import StatusCodes
import VaultInterface
import VaultKeys

/// Proves that a key is in the TPM.
struct AttestCommand: DocumentedCommand {
    static let summary = "Prove that a key was made in this machine's TPM and cannot leave it."
    static let details = """
        For keys that were made with --enclave in a vault in a TPM 2.0. The TPM signs, with its attestation key, that \
        it made the key and never lets it out. The files are the TPM's own structures, as tpm2-tools reads them, and \
        the same for OpenSSL: key.pub and key.pem are the key; ak.pub and ak.pem the attestation key; attest.bin the \
        TPM's statement; signature.bin and signature.der its signature; ek.pub and ek.pem the key that the TPM's maker \
        vouches for; ek-rsa.crt and ek-ecc.crt the maker's certificates, if the TPM keeps them. With --json, the files \
        are printed in base64.

        The nonce shows that the proof is new. Whoever will check the proof chooses a random nonce for it, of 8 to 32 \
        bytes (16 to 64 hexadecimal digits), and sends it to you. The TPM signs it together with its statement. A \
        proof that was made earlier has another nonce, and the check refuses it. Without --nonce, the command chooses \
        32 random bytes; nobody can then tell when the proof was made.

        A person is asked if the key requires it, as for a signature.
        """
    static let examples = [
        Example("Prove where a key is", "keychain key attest laptop --nonce 5d1be40d8d7c2a96 --out proof"),
        Example("Check it on another machine", "keychain key verify-attestation proof --nonce 5d1be40d8d7c2a96"),
        Example(
            "Check the signature with OpenSSL",
            #"""
            openssl dgst -sha256 -verify proof/ak.pem \
                -signature proof/signature.der proof/attest.bin
            """#),
    ]
    static let configuration: CommandConfiguration = documented("attest")

    @OptionGroup var selection: KeySelection

    @Option(
        help: ArgumentHelp(
            "The nonce that whoever checks the proof has sent: 16 to 64 hexadecimal digits.", valueName: "digits"))
    var nonce: AttestationNonce?

    @Option(
        help: ArgumentHelp("The folder for the files, a new one or an empty one.", valueName: "folder"),
        completion: .directory)
    var out: String?

    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var attester: String
        var files: [String: String]
        var hash: String
        var nonce: String
    }

    func validate() throws {
        guard json || out != nil else {
            throw ValidationError("name a folder for the files with --out, or have them printed with --json")
        }
        guard out?.isEmpty != true else { throw ValidationError("--out takes the name of a folder") }
    }

    func run() throws {
        let session = try KeyCommandSession.forLooking(passcode)
        let pair = try selection.one(in: session)
        var options = try itemPassword.authentication()
        options.prompt = "prove where the key '\(pair.name)' is."
        let record = try session.attestableKey(of: pair)
        let nonce = nonce?.bytes ?? SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }
        let encoded = try session.session.perform(UseEnclaveKey(record, for: .attest(nonce: nonce), options: options))
        let attestation = try KeyAttestation(decoding: encoded)
        let shown = try attestation.verified(nonce: nonce)
        guard shown.publicKey == record.publicKey else { throw AttestationError.otherKey }
        let files = try AttestationFiles(attestation)
        if let out { try files.write(to: out) }
        let report = AttestationReport(shown)
        if json {
            try StandardOutput.write(
                json: Answer(
                    attester: report.attester, files: files.contents.mapValues { $0.base64EncodedString() },
                    hash: report.hash, nonce: report.nonce))
        } else {
            try StandardOutput.write(line: report.lines())
        }
    }
}

/// The nonce that the verifier of a proof has chosen.
struct AttestationNonce: ExpressibleByArgument {
    let bytes: Data

    init?(argument: String) {
        guard !argument.contains(where: \.isWhitespace), let bytes = BytesEncoding.hex.decoding(Data(argument.utf8)),
            KeyAttestation.nonceSizes.contains(bytes.count)
        else { return nil }
        self.bytes = bytes
    }
}

/// An attested key in words.
struct AttestationReport {
    let hash: String
    let attester: String
    let nonce: String

    init(_ key: AttestedKey) {
        hash = Data(Insecure.SHA1.hash(data: key.publicKey)).hexadecimal()
        attester = key.attester.hexadecimal()
        nonce = key.nonce.hexadecimal()
    }

    func lines(attesterNote: String = "", nonceNote: String = "") -> String {
        """
        key       \(hash)
        attester  \(attester)\(attesterNote)
        nonce     \(nonce)\(nonceNote)
        """
    }
}

extension KeyCommandSession {
    /// Returns the record of a key that a TPM can attest.
    fileprivate func attestableKey(of pair: KeyPair) throws -> EnclaveKeyRecord {
        guard pair.hasPrivateHalf else {
            throw Failure(
                status: errSecItemNotFound,
                "only the public half of the key '\(pair.name)' is here: attest it where it was made")
        }
        let query = ItemQuery(
            itemClass: .key,
            attributes: [
                .keyClass: .number(1), .applicationLabel: .data(pair.hash),
                .tokenID: .string(EnclaveKeyRecord.tokenID),
            ], accessGroup: pair.group, synchronizable: .any)
        let found: [StoredItem]
        do {
            found = try session.perform(CopyItems(query, includingValues: true))
        } catch {
            guard error == .itemNotFound else { throw error }
            throw Failure(
                status: errSecUnimplemented, exitCode: ExitStatus.other,
                "the key '\(pair.name)' was not made in an enclave, so nothing can prove where it is: make one with "
                    + "`keychain key create --enclave` in a vault in a TPM 2.0")
        }
        guard let record = found.first?.value.flatMap(EnclaveKeyRecord.init(decoding:)),
            let blob = try? EnclaveBlob(decoding: record.blob)
        else {
            throw Failure(
                status: errSecDecode,
                "the item '\(pair.name)' holds no key that can be used here: delete it, or use it where it came from")
        }
        guard blob.enclave == .tpm2 else {
            throw Failure(
                status: errSecUnimplemented, exitCode: ExitStatus.other,
                "the key '\(pair.name)' is in the software enclave, which can prove nothing: make a vault in a TPM 2.0 "
                    + "(`keychain init --enclave tpm2` with another KEYCHAIN_HOME), and a key in it")
        }
        return record
    }
}
