import CommandKit
import ProcessVault
import VaultInterface

/// Runs `body` in the session of the vault's owner, which asks for the passcode when it is needed.
///
/// - Parameter require: What opening the database takes from now on. Refused if nobody could meet it.
func withOwnersVault<Result>(
    _ passcode: PasscodeInput, requiring require: [ItemRequirement] = [], _ body: () throws -> Result
) throws -> Result {
    try OtherTool.refuseUnknownCopy(nil, "nothing was done")
    let session = try VaultSession.ofOwner(passcode)
    try ItemRequirement.check(require, session)
    return try session.asCurrent(body)
}
