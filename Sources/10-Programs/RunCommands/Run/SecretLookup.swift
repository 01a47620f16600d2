import Access
import Broker
import Bytes
import CommandKit
import FoundationEssentials
import KeychainModel
import ProcessVault
import StatusCodes
import VaultInterface

/// Finds the secrets that references name, as `keychain get` finds them, and each only once.
final class SecretLookup {
    private let passcode: PasscodeInput
    private let authentication: AuthenticationOptions
    private var session: VaultSession?
    private var found: [SecretReference: SecretBytes] = [:]
    /// The items with the secrets that were found.
    private var identifiers: Set<UUID> = []
    /// The access groups of these items.
    private var groups: Set<String> = []
    /// The number of the last change of the vault that is known; nil if the vault does not tell.
    private var known: Int64?
    /// The access tokens of logins among them, and the process that gets them.
    private(set) var tokens: [SecretReference: LoginToken] = [:]
    private var keeper: LoginKeeper?
    /// What a person types for the vault; nil if no login is used.
    private var remembering: RememberingPrompt?
    private let program: String
    /// Whether the secrets are looked up again, which asks nobody.
    private var isAgain = false

    /// - Parameter program: The program that is named in the question to a person.
    init(_ passcode: PasscodeInput, _ itemPassword: ItemPassword, for program: String) throws {
        self.passcode = passcode
        self.program = program
        var authentication = try itemPassword.authentication()
        authentication.prompt = "run '\(program.escapedForTerminal)' with secrets of the keychain"
        // One answer of a person is enough for all secrets.
        authentication.context = UUID()
        self.authentication = authentication
    }

    /// All secrets that were found.
    var secrets: [(SecretReference, SecretBytes)] {
        found.sorted { $0.key.text < $1.key.text }.map { ($0.key, $0.value) }
    }

    /// - Parameter place: Where the reference is, which an error says first.
    func secret(_ reference: SecretReference, at place: String) throws -> SecretBytes {
        if let secret = found[reference] { return secret }
        do {
            let secret = try look(for: reference)
            found[reference] = secret
            return secret
        } catch {
            let failure = Failure(error)
            throw Failure(
                status: failure.status, exitCode: failure.exitCode,
                "\(place) (\(reference.text.escapedForTerminal)): \(failure.message)")
        }
    }

    private func look(for reference: SecretReference) throws -> SecretBytes {
        if let login = LoginName(reference) { return try token(of: login, reference) }
        var session = try openSession()
        var authentication = authentication
        if isAgain {
            session = session.withoutUnlocking
            // What a person allowed at first holds for the same context.
            authentication.interaction = .fail
        }
        let search = PasswordSearch(
            service: reference.service, account: reference.account, group: reference.group,
            synchronizable: reference.synchronizable, authentication: authentication)
        let item = try search.one(in: session, includingValues: true, remedies: .reference)
        identifiers.insert(item.identifier)
        groups.insert(item.accessGroup)
        guard let value = item.value else {
            throw Failure(status: errSecItemNotFound, "the item holds no secret: store one with `keychain set`")
        }
        return try .copy(value)
    }

    // MARK: Logins

    /// Says that references of logins follow, before the vault is opened: what a person types for it then is typed for
    /// the process that refreshes them, too.
    func expectLogins(in references: [SecretReference]) {
        guard remembering == nil, references.contains(where: { LoginName($0) != nil }) else { return }
        remembering = RememberingPrompt(passcode.prompt)
    }

    private func token(of login: LoginName, _ reference: SecretReference) throws -> SecretBytes {
        let session = try openSession()
        // Once, for this process and the other one.
        if !(session.vault is any VaultConnection), case let status = try session.perform(ReadStatus()),
            status.isPasscodeSet, status.lockState != .unlocked
        {
            _ = try session.unlockIfPossible()
        }
        let item: StoredItem
        do {
            item = try login.search.one(in: session, includingValues: false, remedies: .reference)
        } catch {
            throw LoginStore.failure(error, login)
        }
        identifiers.insert(item.identifier)
        groups.insert(item.accessGroup)
        let (token, secret) = try loginKeeper().token(login, StoredLogin.Need())
        tokens[reference] = token
        return secret
    }

    /// The process that refreshes logins.
    func loginKeeper() throws -> LoginKeeper {
        if let keeper { return keeper }
        let prompt = remembering ?? RememberingPrompt(passcode.prompt)
        let passcode = RememberedPasscode(prompt)
        let made = try LoginKeeper(for: program) { passcode.passcode() }
        keeper = made
        return made
    }

    /// Returns a session of the vault that asks nobody to unlock it.
    func quietSession() throws -> VaultSession { try openSession().withoutUnlocking }

    /// Returns the path of the vault's folder; nil if a daemon has it that does not tell.
    func pathOfVault() throws -> String? { try quietSession().perform(ReadStatus()).path }

    /// Returns a session of the vault, which asks for the passcode where it has to be unlocked.
    func openSession() throws -> VaultSession {
        if let session { return session }
        let opened = try VaultSession.ofOwnerInPresentVault(passcode, prompt: remembering)
        opened.hideMemory()
        session = opened
        return opened
    }

    // MARK: Following

    /// Opens the vault, and returns its changes from now on.
    func follow() throws -> ChangeNotices {
        let session = try openSession().withoutUnlocking
        let notices = try ChangeNotices(session.vault.changes())
        known = try? session.perform(ChangesSince(.max)).known.next
        return notices
    }

    /// Whether secrets that were found may have changed since the last call.
    func hasNews() -> Bool {
        guard let session = session?.withoutUnlocking, let number = known else { return true }
        // A daemon that is out of reach is asked again.
        guard let (items, answer) = try? session.perform(ChangesSince(number)) else { return true }
        known = answer.next
        return !answer.isComplete || items.contains { identifiers.contains($0.identifier) } || !mayList(in: session)
    }

    /// Whether the vault lists the changes of all items that were found. A daemon tells a program without the right to
    /// list that a group changed, and not which items: it can only read its own again, by their names.
    private func mayList(in session: VaultSession) -> Bool {
        guard let caller = try? session.perform(DescribeCaller()) else { return false }
        let listable = caller.listableGroups
        return listable.contains(Client.everyGroup)
            || groups.allSatisfy { group in listable.contains { $0.isSameGroup(as: group) } }
    }

    /// Forgets the secrets, so that they are looked up again.
    func lookAgain() {
        found = [:]
        identifiers = []
        groups = []
        isAgain = true
    }

    /// Lets go of the vault and of the secrets, because the command may run for a long time.
    func close() {
        if let session, let context = authentication.context {
            // A daemon that is out of reach has forgotten the context.
            _ = try? session.perform(EndContext(context))
        }
        session = nil
        found = [:]
        keeper?.end()
        keeper = nil
        ProcessVault.close()
    }
}

extension Ambiguity.Remedies {
    /// How to choose between several items in a reference.
    fileprivate static let reference = Ambiguity.Remedies(
        group: "?group=GROUP at the end of the reference",
        synchronizable: "?synchronizable=yes or ?synchronizable=no at the end of the reference")
}
