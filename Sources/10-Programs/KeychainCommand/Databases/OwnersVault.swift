import DatabaseFiles
import KeychainModel
import StatusCodes
import VaultInterface

/// Runs `body` with the owner's view of the vault, which asks for the passcode when it is needed.
///
/// - Parameter require: What opening the database takes from now on. A note says so if nobody can meet it yet.
func withOwnersVault<Result>(
    _ passcode: PasscodeInput, requiring require: [ItemRequirement] = [], _ body: () throws -> Result
) throws -> Result {
    let owner = OwnersVault(session: try VaultSession.ofOwner(passcode))
    let result = try VaultSession.$override.withValue(owner, operation: body)
    try PasscodeNote.show(require, "the database opens only once one is") {
        try owner.session.perform(ReadStatus())
    }
    return result
}

/// The owner's view of the vault, for code that uses the vault of its context.
struct OwnersVault: VaultSessionProvider {
    let session: VaultSession
}

extension ProtectedDatabaseFile {
    /// The database at a path that was given.
    init(path: String) { self.init(path: path, preparing: TextFunctions.add) }
}
