import Access
import Audit
import CLibrary
import Keybag
import KeychainModel
import PrivateFiles
import SystemLibraries
import VaultInterface

/// Begins the vault's audit log, and reads it.
struct VaultAudit: AuditReading {
    let vault: OpenedVault
    let gate: VaultGate

    /// Returns the log of the vault in the folder at `path`. A vault that has a log keeps it, whichever program opens
    /// the vault. `KEYCHAIN_AUDIT=1` begins a log.
    static func sink(forVaultAt path: String) -> any AuditSink {
        let begins = Environment.value(of: "KEYCHAIN_AUDIT") == "1"
        return begins || AuditReader.hasLog(in: path) ? AuditLog() : NoAudit()
    }

    /// Gives the log its folder and its key. A vault in memory has neither.
    func begin(_ surroundings: VaultSurroundings) {
        guard gate.access.isRecording, let folder = vault.folder else { return }
        gate.access.begin(
            in: AuditPlace(
                folder: folder.folder.path, seal: { [weak vault] in vault?.keybag.auditSeal },
                anchorSeal: { [weak vault] in vault?.keybag.auditAnchorSeal }, now: surroundings.now,
                process: ClientProcess(user: geteuid(), number: getpid())))
    }

    func records(_ operation: ReadAudit, as client: Client, send: Sink<AuditRecord>) throws(VaultError) -> Int {
        try authorize(client)
        var digests: [UInt64]?
        if let item = operation.query.item {
            // Made from the names, and not looked up: a deleted item has no row, and a search is an event of its own.
            let names: ItemAttributes = [
                .service: .string(item.service), .account: .string(item.account),
            ]
            let keybag = vault.keybag
            guard let digest = keybag.auditDigest(.genericPassword, names) else {
                throw VaultError.interactionNotAllowed(
                    reason:
                        "the log names an item only once the vault was unlocked: use `keychain unlock` if keychaind "
                        + "runs, or give the passcode with --passcode-fd")
            }
            do {
                // Those of earlier software, and of records from before a renewal of the class keys.
                digests =
                    try [digest] + [keybag.formerAuditDigest(.genericPassword, names)].compactMap { $0 }
                    + keybag.formerKeys().keybags.compactMap {
                        try keybag.before($0)?.auditDigest(.genericPassword, names)
                    }
            } catch {
                throw VaultError(error)
            }
        }
        let found = try inLogFolder { path throws(FileError) in
            try AuditReader(folder: path).records(operation.query, of: digests, class: .genericPassword)
        }
        for record in found.records { try send(record) }
        return found.unclear
    }

    func verify(_ operation: VerifyAudit, as client: Client) throws(VaultError) -> AuditReport {
        try authorize(client)
        let keybag = vault.keybag
        guard let seal = keybag.auditSeal else { throw VaultError.classKeyAbsent(.always) }
        return try inLogFolder { path throws(FileError) in
            try AuditVerifier.verify(
                folder: path, under: seal, anchorSeal: keybag.auditAnchorSeal,
                isAnchorExpected: keybag.keys.keybag.passcode?.isAnchored ?? false)
        }
    }

    func record(_ operation: RecordRequest, as client: Client) throws(VaultError) {
        let authorization = try gate.authorize(
            AccessRequest(.copy, itemClass: .genericPassword), as: client, recordedAs: .brokered)
        let digests = operation.items.compactMap { item in
            vault.keybag.auditDigest(
                .genericPassword, [.service: .string(item.service), .account: .string(item.account)])
        }
        gate.access.record(authorization, digests: digests, brokered: operation.request.bounded)
    }

    /// Records the reading of the log before it is read, so that the last record is authenticated with the present key.
    private func authorize(_ client: Client) throws(VaultError) {
        let authorization = try gate.authorize(
            AccessRequest(.status, isAboutWholeVault: true), as: client, recordedAs: .inspected)
        gate.access.record(authorization)
        gate.access.flush()
    }

    private func inLogFolder<Result>(
        _ body: (String) throws(FileError) -> Result?
    ) throws(VaultError) -> Result {
        let found: Result?
        do {
            found = try vault.folder.flatMap { folder throws(FileError) in try body(folder.folder.path) }
        } catch {
            throw VaultError(error)
        }
        guard let found else {
            throw .unusableVault(
                reason: "this vault has no audit log; begin one by using the vault with KEYCHAIN_AUDIT=1")
        }
        return found
    }
}
