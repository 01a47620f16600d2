import ArgumentParser
import Enclave
import FoundationEssentials
import StatusCodes
import Vault

/// Makes a vault.
struct InitCommand: DocumentedCommand {
    static let summary = "Make a vault, and choose the enclave that it hangs on."
    static let details = """
        Without this a vault is made at its first use, in the software enclave. A vault stays in the enclave that it was \
        made in; running this again changes nothing, and is an error if the vault is in another one.

        software: the device secret is a file in the vault's folder. Whoever copies the whole folder can try \
        passcodes elsewhere.

        tpm2: the device secret is a key in the machine's TPM 2.0, at $KEYCHAIN_TPM, else device:/dev/tpmrm0. The folder \
        is useless on another machine, and the TPM itself counts wrong passcodes. If the TPM breaks or is \
        cleared, only a recovery key leads back into the vault: see `keychain help recovery`.

        With --detect-rollback a counter in the TPM goes with the vault's keys: older copies of them, as with a passcode that was \
        changed, are refused, and so is a restored backup from before a change, except with a recovery key.

        The TPM's lockout belongs to the machine. If it has no password, which lets anybody end a lockout, it is given \
        one, which is printed here and nowhere else, and is set to 32 wrong passcodes and one more every ten \
        minutes. With --keep-lockout it is left as it is.
        """
    static let examples = [
        Example("In the machine's TPM", "keychain init --enclave tpm2"),
        Example("In another folder", "KEYCHAIN_HOME=$HOME/vault keychain init"),
    ]
    static let configuration: CommandConfiguration = documented("init")

    @OptionGroup var options: EnclaveOptions

    @Flag(help: "Leave the TPM's lockout as it is.")
    var keepLockout = false

    @Flag(help: "Print the result, and any error, as JSON.")
    var json = false

    private struct Answer: Encodable {
        var vault: String
        var enclave: String
        var lockoutPassword: String?
    }

    private func open(_ path: String, _ kind: EnclaveKind) throws(Failure) -> EmbeddedVault {
        do throws(VaultError) {
            return try EmbeddedVault.open(at: path, in: kind, detectsRollback: options.detectRollback)
        } catch {
            var failure = Failure(error)
            if kind != .software, !FileManager.default.fileExists(atPath: path + "/device-secret") {
                failure.message +=
                    "; no vault was made, and a program that stores something before this command succeeds makes one "
                    + "with the software enclave"
            }
            throw failure
        }
    }

    func run() throws {
        let kind = try EnclaveKind(named: options.enclave)
        let path = try failing { () throws(VaultError) in try ProcessVault.defaultPath() }
        let vault = try open(path, kind)
        defer { vault.close() }
        guard vault.detectsRollback || !options.detectRollback else {
            throw Failure(
                status: errSecParam,
                "the vault in \(path.escapedForTerminal) was made without a counter: make one in another folder (KEYCHAIN_HOME)"
            )
        }
        let lockout = keepLockout ? nil : try failing { () throws(VaultError) in try vault.plannedLockout() }
        // A password that nobody has read must not be set: only clearing the TPM takes it away again.
        try show(vault, path, lockout)
        if let lockout, lockout.password != nil { try take(lockout, vault) }
    }

    private func take(_ lockout: EnclaveLockout, _ vault: EmbeddedVault) throws(Failure) {
        let isTaken: Bool
        do throws(VaultError) {
            isTaken = try vault.takeLockout(lockout)
        } catch {
            var failure = Failure(error)
            failure.message += "; the TPM's lockout is not set to the password above: run this again"
            throw failure
        }
        guard isTaken else {
            throw Failure(
                status: errSecIO,
                "the TPM's lockout was given another password meanwhile, so that the one above is not set: ask who did")
        }
    }

    private func show(_ vault: EmbeddedVault, _ path: String, _ lockout: EnclaveLockout?) throws {
        if json {
            try StandardOutput.write(
                json: Answer(vault: path, enclave: vault.enclaveKind.name, lockoutPassword: lockout?.password))
        } else {
            var rows = [["vault", path.escapedForTerminal], ["enclave", vault.enclaveKind.name]]
            if let lockout {
                rows.append(
                    ["lockout", "after \(lockout.tries) wrong passcodes, one more every \(lockout.recoveryTime) s"])
                rows.append([
                    "password",
                    lockout.password ?? "it has one already, perhaps from an earlier init, which printed it",
                ])
            }
            try StandardOutput.write(line: Table(rows).text(aligned: true))
            if lockout?.password != nil {
                try StandardOutput.write(
                    line: "The password ends a lockout before its time (tpm2_dictionarylockout -c -p PASSWORD). "
                        + "It is not shown again: write it down.")
            }
        }
    }
}
