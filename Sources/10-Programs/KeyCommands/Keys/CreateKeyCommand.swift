import ArgumentParser
import Certificates
import CommandKit
import KeyCryptography
import KeychainModel
import StatusCodes
import VaultInterface
import VaultKeys

/// Makes a key.
struct CreateKeyCommand: DocumentedCommand {
    static let summary = "Make a key."
    static let details = """
        With --enclave the key is made inside the vault's enclave and never leaves it; such keys are of type p256, \
        mldsa65, mldsa87, mlkem768 or mlkem1024. The last four stand against a quantum computer, are made with \
        --enclave alone, and are used by programs that load the PKCS #11 module. In a vault in a TPM 2.0 the enclave is the chip. In a software vault it is the vault's own code, which keeps the \
        key from programs, but not from somebody who controls the whole machine.

        Both halves are stored under the label. The public half can be read while the vault is locked.
        """
    static let examples = [
        Example("A P-256 key", "keychain key create release"),
        Example("In the enclave, asking a person each time", "keychain key create laptop --enclave --require presence"),
        Example("For a certificate with RSA", "keychain key create www --type rsa3072"),
    ]
    static let configuration: CommandConfiguration = documented("create")

    @Argument(help: "A name for people.")
    var label: String

    @Flag(help: "Make the key in the vault's enclave, which it never leaves.")
    var enclave = false

    @Option(help: "Which kind of key.")
    var type: KeyType = .p256

    @OptionGroup var protection: KeyProtection

    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func validate() throws {
        guard !label.isEmpty else { throw ValidationError("a label has at least one character") }
        guard enclave || type.postQuantum == nil else {
            throw ValidationError("keys of type \(type.rawValue) are kept by the enclave alone: add --enclave")
        }
        guard !enclave || type == .p256 || type.postQuantum != nil else {
            throw ValidationError(
                "an enclave keeps no keys of type \(type.rawValue): leave out --type or --enclave")
        }
    }

    func run() throws {
        let session = try KeyCommandSession.forWriting(passcode)
        try protection.check(session)
        let store = KeyStore(
            session: session, protection: protection,
            authentication: try itemPassword.authentication(isNew: protection.require.contains(.password)))
        try store.requireUnused(label)
        let control = protection.accessControl(isEnclave: enclave)
        let pair = try create(control, store)
        if json { try StandardOutput.write(json: KeySummary(pair, enclave: try session.status().enclave)) }
    }

    private func create(_ control: AccessControl, _ store: KeyStore) throws -> KeyPair {
        let session = store.session
        if let software = type.type, !enclave {
            let key = try session.result {
                VaultKey(try SoftwareKeys.randomKey(type: software, sizeInBits: type.sizeInBits))
            }
            return try store.add(key, label: label, control)
        }
        let authentication = store.authentication
        let record = try session.session.perform(
            MakeEnclaveKey(type.postQuantum?.enclaveKind ?? .p256, accessControl: control, options: authentication))
        if let kind = type.postQuantum { return try store.add(record, kind, label: label) }
        guard let key = VaultKey(record, use: KeyUse(authentication: authentication)) else {
            throw Failure(status: errSecInternalComponent, "the enclave made no key: `keychain status --verify`")
        }
        return try store.add(key, label: label, control)
    }
}
