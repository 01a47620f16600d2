import DatabaseFiles
import KeychainModel
import StatusCodes
import VaultInterface

/// Runs `body` with the owner's view of the vault, which asks for the passcode when it is needed.
///
/// - Parameter require: What opening the database takes from now on. A note says so if nobody can meet it yet.
func withOwnersVault<Result>(
    _ passcode: PasscodeInput, requiring require: [ItemRequirement] = [], _ body: () throws(Failure) -> Result
) throws(Failure) -> Result {
    let owner = OwnersVault(session: try VaultSession.ofOwner(passcode))
    let result = try VaultSession.$override.withValue(owner) { Swift.Result { () throws(Failure) in try body() } }.get()
    try PasscodeNote.show(require, "the database opens only once one is") { () throws(Failure) in
        do throws(VaultError) {
            return try owner.session.perform(ReadStatus())
        } catch {
            throw Failure(error)
        }
    }
    return result
}

private struct OwnersVault: VaultSessionProvider {
    let session: VaultSession
}

extension ProtectedDatabaseFile {
    /// The database at a path that was given.
    init(path: String) { self.init(path: path, preparing: TextFunctions.add) }
}
