import CommandKit

/// The commands about the vault.
package enum VaultCommands: CommandModule {
    package static func command(named name: String) -> (any DocumentedCommand.Type)? {
        switch name {
        case "init": InitCommand.self
        case "passcode": PasscodeCommand.self
        case "lock": LockCommand.self
        case "unlock": UnlockCommand.self
        case "status": StatusCommand.self
        case "audit": AuditCommand.self
        case "entitlements": EntitlementsCommand.self
        case "backup": BackupCommand.self
        case "erase": EraseCommand.self
        case "recovery": RecoveryCommand.self
        case "rekey": RekeyCommand.self
        case "send": SendCommand.self
        case "receive": ReceiveCommand.self
        case "pkcs11-helper": TokenHelperCommand.self
        default: nil
        }
    }
}
