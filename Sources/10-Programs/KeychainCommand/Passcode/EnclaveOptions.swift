import ArgumentParser

/// The enclave that a vault hangs on from a command on.
struct EnclaveOptions: ParsableArguments {
    @Option(help: "What the vault hangs on: software or tpm2.")
    var enclave = "software"

    @Flag(help: "Refuse older copies of the vault's keys from then on, by a counter in the TPM.")
    var detectRollback = false
}
