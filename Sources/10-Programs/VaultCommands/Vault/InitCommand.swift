import ArgumentParser
import CommandKit
import Enclave
import FoundationEssentials
import ProcessVault
import StatusCodes
import Vault
import VaultInterface

/// Makes a vault.
struct InitCommand: DocumentedCommand {
    static let summary = "Make a vault, and choose the enclave that keeps its device secret."
    static let details = """
        Without this command, the first use makes a vault in the software enclave. A vault stays in the enclave that \
        it was made in. Running this again changes nothing, and is an error if the vault is in the other enclave. \
        Where a daemon serves a vault, programs use that one, and this command makes none: KEYCHAIN_HOME names a \
        folder for another.

        software: the device secret is a file in the vault's folder. Anybody who copies the whole folder can try \
        passcodes elsewhere.

        tpm2: the device secret is a key in the machine's TPM 2.0, at $KEYCHAIN_TPM, else device:/dev/tpmrm0. The \
        folder is useless on another machine, and the TPM itself counts wrong passcodes. If the TPM breaks or is \
        cleared, only a recovery key opens the vault: see `keychain help recovery`.

        --detect-rollback ties the vault's keys to a counter in the TPM. Older copies of the keys, such as those from \
        before a change of the passcode, are then refused, by the TPM too. A copy of the folder from before such a \
        change opens only with a recovery key.

        The TPM's lockout belongs to the machine. A lockout without a password can be ended by anybody, so this \
        command sets a password, and prints it here and nowhere else. It also allows 32 wrong passcodes, and one more \
        every ten minutes. --keep-lockout leaves the lockout as it is.
        """
    static let examples = [
        Example("In the machine's TPM", "keychain init --enclave tpm2"),
        Example("In another folder", "KEYCHAIN_HOME=$HOME/vault keychain init"),
    ]
    static let configuration: CommandConfiguration = documented("init")

    @OptionGroup var options: EnclaveOptions

    @Flag(help: "Leave the TPM's lockout as it is.")
    var keepLockout = false

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        /// Absent if a daemon serves the vault and does not tell this program where it is.
        var vault: String?
        var enclave: String
        var lockoutPassword: String?
    }

    private func open(_ path: String, _ kind: EnclaveKind) throws -> EmbeddedVault {
        do throws(VaultError) {
            return try EmbeddedVault.open(at: path, in: kind, detectsRollback: options.detectRollback)
        } catch {
            var failure = Failure(error)
            if kind != .software, !FileManager.default.fileExists(atPath: path + "/device-secret") {
                failure.message +=
                    "; no vault was made: until this command succeeds, a program that stores something makes one in "
                    + "the software enclave"
            }
            throw failure
        }
    }

    func run() throws {
        let kind = try EnclaveKind(named: options.enclave)
        if try ProcessVault.servedCaller() != nil { return try showServed(kind) }
        let path = try ProcessVault.defaultPath()
        let wasThere = try ProcessVault.exists()
        let vault = try open(path, kind)
        defer { vault.close() }
        guard vault.detectsRollback || !options.detectRollback else {
            throw Failure(
                status: errSecParam,
                "the vault in \(path.escapedForTerminal) was made without a counter: make another vault, in another "
                    + "folder (KEYCHAIN_HOME)")
        }
        let lockout = keepLockout ? nil : try vault.plannedLockout()
        // First shown, then set: only clearing the TPM removes a password that nobody has read.
        try show(vault.enclaveKind.name, path, lockout)
        if wasThere { CommandNote.show("the vault was there already, and stays as it is") }
        if let lockout, lockout.password != nil { try take(lockout, vault) }
    }

    /// Shows the vault that programs use, which a daemon serves. Another one beside it would only hide it.
    private func showServed(_ kind: EnclaveKind) throws {
        let status = try VaultSession.ofOwner().perform(ReadStatus())
        let place = status.path.map { "the vault in \($0.escapedForTerminal)" } ?? "a vault"
        let other = "KEYCHAIN_HOME names a folder for another vault"
        guard status.enclave == kind.name, !options.detectRollback else {
            let difference =
                status.enclave == kind.name
                ? "cannot add a counter to it" : "it is in the enclave '\(status.enclave)'"
            throw Failure(
                status: errSecParam, "a daemon serves \(place), and \(difference): no vault was made; \(other)")
        }
        try show(status.enclave, status.path, nil)
        CommandNote.show("a daemon serves \(place), which was there already: no vault was made; \(other)")
    }

    private func take(_ lockout: EnclaveLockout, _ vault: EmbeddedVault) throws {
        let isTaken: Bool
        do throws(VaultError) {
            isTaken = try vault.takeLockout(lockout)
        } catch {
            var failure = Failure(error)
            failure.message += "; the password above is not set for the TPM's lockout: run this command again"
            throw failure
        }
        guard isTaken else {
            throw Failure(
                status: errSecIO,
                "another program gave the TPM's lockout a password meanwhile, so the one above is not set: find out "
                    + "who did"
            )
        }
    }

    private func show(_ enclave: String, _ path: String?, _ lockout: EnclaveLockout?) throws {
        if json {
            try StandardOutput.write(
                json: Answer(vault: path, enclave: enclave, lockoutPassword: lockout?.password))
        } else {
            var rows = path.map { [["vault", $0.escapedForTerminal]] } ?? []
            rows.append(["enclave", enclave])
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
