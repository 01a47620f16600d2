#if HTTPClientSupport
import Access
import Enclave
import Foundation
import Frames
import Glibc
import TestSupport
import Testing
import Vault
import VaultInterface
import VaultService

/// A vault of one of the kinds that people have, whose machine can die.
final class ChaosVault {
    enum Kind: CaseIterable {
        /// The daemon of a user, and that of the system, each a process of its own.
        case userDaemon, systemDaemon
        /// In a folder, with the keys in a TPM, and with those in a file.
        case tpm, folder
        /// In memory, with a clock that is wrong.
        case memory
    }

    let kind: Kind
    let vault: any Vault
    /// Nil for those of the vaults in this process.
    let client: Client?
    let clock = MovedClock()
    private let folder: TemporaryFolder
    private let tpm: SoftwareTPM?
    private var daemon: Worker?

    init(_ kind: Kind) throws {
        self.kind = kind
        folder = try TemporaryFolder()
        let home = folder.path(of: "vault")
        tpm = kind == .tpm ? try SoftwareTPM() : nil
        let surroundings = VaultSurroundings(now: clock.now)
        switch kind {
        case .userDaemon, .systemDaemon:
            let rule =
                #"{"uid": \#(geteuid()), "groups": ["\#(EtcdMachine.group)", "*"], "#
                + #""rights": ["list", "unlock", "administer", "synchronize"]}"#
            let entitlements = folder.path(of: "entitlements.json")
            try FolderContents.write(Data(#"{"version": 1, "rules": [\#(rule)]}"#.utf8), to: entitlements)
            chmod(entitlements, 0o600)
            daemon = try Self.start(folder, kind)
            let remote = try RemoteVault(socket: folder.path(of: "run/socket"))
            (vault, client) = (remote, remote.granted)
        case .tpm:
            vault = try EmbeddedVault.open(
                at: home, in: .tpm2, enclaves: EnclavePlace(tpm: tpm?.address ?? ""), surroundings: surroundings)
            client = nil
        case .folder: (vault, client) = (try EmbeddedVault.open(at: home, surroundings: surroundings), nil)
        case .memory: (vault, client) = (try memoryVault(now: clock.now), nil)
        }
    }

    private static func start(_ folder: TemporaryFolder, _ kind: Kind) throws -> Worker {
        let socket = folder.path(of: "run/socket")
        let daemon = try Worker(
            [
                "--socket", socket, "--home", folder.path(of: "vault"), "--entitlements",
                folder.path(of: "entitlements.json"), "--log", "error",
            ] + (kind == .systemDaemon ? ["--system"] : []), command: Worker.daemon)
        try eventually("the daemon listens") {
            guard let connected = try? UnixSocket.connect(to: socket) else { return false }
            close(connected)
            return true
        }
        return daemon
    }

    /// Kills the daemon, as a power failure does, and starts it again: it is locked then.
    func restart() throws {
        guard let daemon else { return }
        daemon.kill()
        daemon.wait()
        self.daemon = try Self.start(folder, kind)
    }
}
#endif
