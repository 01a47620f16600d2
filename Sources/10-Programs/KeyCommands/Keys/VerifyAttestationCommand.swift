import ArgumentParser
import Attestation
import CommandKit
import FoundationEssentials

/// Checks the proof that a key is in a TPM.
struct VerifyAttestationCommand: DocumentedCommand {
    static let summary = "Check the proof that a key was made in a TPM and cannot leave it."
    static let details = """
        Takes the folder that `keychain key attest` wrote. Works on any machine, and needs no vault and no TPM. It \
        checks the signature, that the attestation key signs nothing but what a TPM says, that the statement is about \
        this key, and that the TPM made the key and never lets it out. If all of that holds, key.pem is the key that \
        was proved.

        Two things only you can know. The nonce, which you chose for this proof: without --nonce the proof may be an \
        old one. And the attester, which is the name of the attestation key: without --attester it may be anybody's \
        key, and not one of a TPM. Compare it with that of a machine you know, or have the TPM show that it has this \
        key (tpm2_makecredential with ek.pub or a certificate, and tpm2_activatecredential on the machine).
        """
    static let examples = [
        Example("Check a proof", "keychain key verify-attestation proof --nonce 5d1be40d8d7c2a96"),
        Example(
            "From a machine that is known",
            #"""
            keychain key verify-attestation proof --nonce 5d1be40d8d7c2a96 \
                --attester $(cat laptop.attester)
            """#),
        Example(
            "See whether it is the key of a request", "openssl req -in www.csr -noout -pubkey | cmp - proof/key.pem"),
    ]
    static let configuration: CommandConfiguration = documented("verify-attestation")

    @Argument(help: "The folder with the files.", completion: .directory)
    var folder: String

    @Option(
        help: ArgumentHelp("The nonce that you chose for the proof: 16 to 64 hexadecimal digits.", valueName: "digits"))
    var nonce: AttestationNonce?

    @Option(help: ArgumentHelp("The name that the attestation key has to have.", valueName: "digits"))
    var attester: String?

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var attester: String
        /// Whether it was compared.
        var attesterIsKnown: Bool
        var hash: String
        var nonce: String
        var nonceIsKnown: Bool
        var uses: [String]
        var valid = true
    }

    private var expectedAttester: Data? { attester.flatMap { BytesEncoding.hex.decoding(Data($0.utf8)) } }

    func validate() throws {
        guard attester == nil || expectedAttester?.count == 34 else {
            throw ValidationError("--attester takes the 68 digits that `keychain key attest` prints")
        }
    }

    func run() throws {
        let shown = try AttestationFiles(folder: folder).verified(nonce: nonce?.bytes)
        if let expectedAttester, shown.attester != expectedAttester {
            throw AttestationFiles.refusal("it was made with another attestation key than the one that is expected")
        }
        let report = AttestationReport(shown)
        guard json else {
            let note = { (isKnown: Bool) in isKnown ? "" : " (not compared)" }
            return try StandardOutput.write(
                line: report.lines(attesterNote: note(attester != nil), nonceNote: note(nonce != nil)))
        }
        var uses: [String] = []
        if shown.attributes.contains(.sign) { uses.append("sign") }
        if shown.attributes.contains(.decrypt) { uses.append("agree") }
        try StandardOutput.write(
            json: Answer(
                attester: report.attester, attesterIsKnown: attester != nil, hash: report.hash, nonce: report.nonce,
                nonceIsKnown: nonce != nil, uses: uses))
    }
}
