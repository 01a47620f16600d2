import CommandKit
import ProcessVault
import VaultInterface

/// Runs `body` in the session of the vault's owner, which asks for the passcode when it is needed.
///
/// - Parameters:
///   - makesKey: Whether `body` stores a key, for which a vault is made where there is none.
///   - require: What opening the database takes from now on. Refused if nobody could meet it.
func withOwnersVault<Result>(
    _ passcode: PasscodeInput, makingKey makesKey: Bool = false, requiring require: [ItemRequirement] = [],
    _ body: () throws -> Result
) throws -> Result {
    try OtherTool.refuseUnknownCopy(nil, "nothing was done")
    guard try makesKey || !require.isEmpty || ProcessVault.exists() else {
        // A plain database needs no vault, and neither does one whose key is given.
        ProcessVault.makeNone()
        return try body()
    }
    let session = try makesKey ? VaultSession.ofOwner(passcode) : .ofOwnerInPresentVault(passcode)
    try ItemRequirement.check(require, session)
    return try session.asCurrent(body)
}
