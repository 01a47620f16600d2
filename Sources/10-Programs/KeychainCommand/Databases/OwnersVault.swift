import DatabaseFiles
import KeychainModel
import ProcessVault
import StatusCodes
import VaultInterface

/// Runs `body` with the owner's view of the vault, which asks for the passcode when it is needed.
///
/// - Parameter require: What opening the database takes from now on. Refused if nobody could meet it.
func withOwnersVault<Result>(
    _ passcode: PasscodeInput, requiring require: [ItemRequirement] = [], _ body: () throws -> Result
) throws -> Result {
    try OtherTool.refuseUnknownCopy(nil, "nothing was done")
    let owner = OwnersVault(session: try VaultSession.ofOwner(passcode))
    try ItemRequirement.check(require, owner.session)
    return try VaultSession.$override.withValue(owner, operation: body)
}

/// The owner's view of the vault, for code that uses the vault of its context.
struct OwnersVault: VaultSessionProvider {
    let session: VaultSession
}

extension ProtectedDatabaseFile {
    /// The database at a path that was given.
    init(path: String) { self.init(path: path, preparing: TextFunctions.add) }
}
