import Access
import Bytes
import FoundationEssentials
import KeychainModel
import StatusCodes
import VaultInterface

/// Finds the secrets that references name, as `keychain get` finds them, and each only once.
final class SecretLookup {
    private let passcode: PasscodeInput
    private let authentication: AuthenticationOptions
    private var session: VaultSession?
    private var found: [SecretReference: SecretBytes] = [:]

    /// - Parameter program: The program that is named in the question to a person.
    init(_ passcode: PasscodeInput, _ itemPassword: ItemPassword, for program: String) throws {
        self.passcode = passcode
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
        let session = try openSession()
        let search = PasswordSearch(
            service: reference.service, account: reference.account, group: reference.group,
            synchronizable: reference.synchronizable, authentication: authentication)
        let item = try search.one(in: session, includingValues: true, remedies: .reference)
        guard let value = item.value else {
            throw Failure(status: errSecItemNotFound, "the item holds no secret: store one with `keychain set`")
        }
        return try .copy(value)
    }

    private func openSession() throws -> VaultSession {
        if let session { return session }
        let opened = try VaultSession.ofOwnerInPresentVault(passcode)
        session = opened
        return opened
    }

    /// Lets go of the vault and of the secrets, because the command may run for a long time.
    func close() {
        if let session, let context = authentication.context {
            // A daemon that is out of reach has forgotten the context.
            _ = try? session.perform(EndContext(context))
        }
        session = nil
        found = [:]
        ProcessVault.close()
    }
}

extension Ambiguity.Remedies {
    /// How to choose between several items in a reference.
    fileprivate static let reference = Ambiguity.Remedies(
        group: "?group=GROUP at the end of the reference",
        synchronizable: "?synchronizable=yes or ?synchronizable=no at the end of the reference")
}
