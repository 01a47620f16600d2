import Access
import Bytes
import CommandKit
import FoundationEssentials
import KeychainModel
import PasswordCommands
import StatusCodes
import VaultCommands
import VaultInterface

/// What the screen asks of the vault.
struct ScreenVault: Sendable {
    /// Nobody is asked for the passcode because an operation meets what is locked: the person unlocks with a key.
    private let session: VaultSession
    private let prompt: ScreenPrompt
    /// After so many items, the first screen has enough to show.
    private static let firstItems = 256
    private static let auditRecords = 500

    init(_ prompt: ScreenPrompt) throws {
        self.prompt = prompt
        session = try VaultSession.ofOwnerInPresentVault(prompt: prompt).withoutUnlocking
    }

    /// Tells of changes of items, and of the lock.
    func notices() throws -> (changes: ChangeNotices, locks: ChangeNotices) {
        (try ChangeNotices(session.vault.changes()), try ChangeNotices(session.vault.lockEvents()))
    }

    /// Reads everything that is listed.
    ///
    /// - Parameter first: Takes the first items, if there are many.
    func contents(first: (ScreenContents) -> Void) throws -> ScreenContents {
        // A vault in this process sends nothing before it has found everything.
        let beginning = try contents(limit: Self.firstItems)
        guard !beginning.isComplete else { return beginning }
        first(beginning)
        return try contents(limit: nil)
    }

    /// - Parameter limit: How many items of a class are read; nil for all.
    private func contents(limit: Int?) throws -> ScreenContents {
        var contents = ScreenContents()
        let status = try session.perform(ReadStatus())
        contents.lock = !status.isPasscodeSet ? .none : status.lockState == .unlocked ? .unlocked : .locked
        contents.isComplete = true
        for itemClass in [ItemClass.genericPassword, .internetPassword] {
            var query = ItemQuery(itemClass: itemClass, accessGroup: nil, synchronizable: .any)
            query.authentication = AuthenticationOptions(interaction: .skip)
            query.reports = [.damage, .guarded, .locked]
            query.limit = limit
            var count = 0
            do throws(VaultError) {
                _ = try session.perform(CopyItems(query, includingValues: false)) { part throws(VaultError) in
                    switch part {
                    case .item(let item):
                        contents.entries.append(ScreenEntry(item))
                        count += 1
                    case .guarded(let item): contents.entries.append(ScreenEntry(item))
                    case .damage: contents.damagedCount += 1
                    case .locked: contents.lockedCount += 1
                    case .withheld, .expired: break
                    }
                }
            } catch {
                guard error == .itemNotFound else { throw error }
            }
            if count == limit { contents.isComplete = false }
        }
        contents.entries.sort(by: ScreenEntry.isBefore)
        return contents
    }

    /// Returns the former versions of an item, as pairs of a name and a text; none if it has none.
    func versions(of entry: ScreenEntry) throws -> [[String]] {
        var query = ItemQuery(item: entry.item)
        query.authentication = AuthenticationOptions(interaction: .skip)
        let versions = try session.versions(query).filter { $0.ended != nil }.sorted { $0.change > $1.change }
        return versions.map {
            ["former", "version \($0.item.version), stored \(Timestamp($0.item.modificationDate).shown)"]
        }
    }

    /// Reads a secret. May ask a person.
    func secret(of entry: ScreenEntry) throws -> Data {
        var query = ItemQuery(item: entry.item)
        // Prompts show it after the program's name, without control characters.
        query.authentication.prompt = "use the password '\(entry.account)' of '\(entry.name)'"
        if entry.item.accessControl.flags?.contains(.applicationPassword) == true {
            query.authentication.applicationPassword = try prompt.askForItemPassword()
        }
        guard let secret = try session.perform(CopyItems(query, includingValues: true)).first?.value, !secret.isEmpty
        else { throw Failure(status: errSecItemNotFound, "the item holds no secret: store one with `keychain set`") }
        return .wipedWhenFreed(secret)
    }

    /// Makes the next one-time code of an entry that is stored for that. May ask a person.
    func code(of entry: ScreenEntry) throws -> (code: String, seconds: Int?) {
        var scope = ItemScope()
        (scope.group, scope.synchronizable) = (entry.group, entry.item.isSynchronizable)
        var itemPassword = ItemPassword()
        itemPassword.descriptor = nil
        let source = OneTimeSource(
            site: entry.codeSite.map(String.init) ?? entry.name, account: entry.account, scope: scope,
            itemPassword: itemPassword)
        return try source.next(session)
    }

    func auditRows() throws -> [[String]] {
        try session.perform(ReadAudit(AuditQuery(limit: Self.auditRecords))).records.map(\.row)
    }

    func lock() throws { try session.perform(LockVault(after: .zero)) }

    /// Asks for the passcode and unlocks the vault.
    ///
    /// - Returns: What a person has to know, as sentences.
    func unlock() throws -> [String] {
        let status = try session.perform(ReadStatus())
        guard status.isPasscodeSet else { throw Failure(VaultError.passcodeNotSet) }
        guard status.lockState != .unlocked else { return ["the vault is unlocked already"] }
        try status.requireNoDelay()
        try OtherTool.requireServed(.unlock, named: "unlock")
        let passcode = try PasscodeInput.ask(prompt, "The vault is locked.")
        try session.perform(UnlockVault(with: passcode))
        let findings = (try? session.perform(ReadUnlockFindings()))?.sentences ?? []
        return findings.isEmpty ? ["unlocked"] : findings
    }
}
