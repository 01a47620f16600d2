import ArgumentParser
import CommandKit

/// Makes and uses keys.
struct KeyCommand: DocumentedCommand {
    static let summary = "Make keys, and sign, decrypt and request certificates with them."
    static let details = """
        A key is made in the vault, or with --enclave in the vault's enclave: in a TPM 2.0 it never leaves the chip. \
        For each key that is made or imported, the public half is stored too, and can be read while the vault is \
        locked.

        You name a key by its label, by its application tag, or by the first 8 or more digits of its hash. The hash is \
        the SHA-1 of the public key; `keychain key list` shows it.
        """
    static let examples = [
        Example("A key that never leaves the TPM, for logging in", "keychain key create laptop --enclave"),
        Example(
            "Let a host know it",
            #"""
            keychain key public laptop --format openssh |
                ssh git.example.com 'cat >> .ssh/authorized_keys'
            """#),
        Example("Sign a file", "keychain key sign release < release.tar > release.tar.sig"),
        Example("Ask for a certificate", "keychain key csr www --subject CN=www.example.com > www.csr"),
        Example("Prove that a key is in the TPM", "keychain key attest laptop --out proof"),
    ]
    static let configuration = documented(
        "key",
        subcommands: [
            CreateKeyCommand.self, ListKeysCommand.self, KeyInfoCommand.self, PublicKeyCommand.self, SignCommand.self,
            VerifyCommand.self,
            EncryptCommand.self, DecryptCommand.self, RequestCommand.self, AttestCommand.self,
            VerifyAttestationCommand.self, TokenURICommand.self, TokenFileCommand.self, DeleteKeyCommand.self,
        ])
}
