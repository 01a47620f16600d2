import ArgumentParser

/// The enclave that keeps a vault's device secret after the command.
struct EnclaveOptions: ParsableArguments {
    @Option(help: "The enclave that keeps the device secret: software or tpm2.")
    var enclave = "software"

    @Flag(help: "Refuse older copies of the vault's keys from now on, with a counter in the TPM.")
    var detectRollback = false
}
