import Access
import Items
import Keybag
import KeychainModel
import Sealing
import VaultInterface

/// Changes of the device that the vault is on.
extension EmbeddedVault {
    package var lockState: LockState { currentKeybag.keys.lockState }

    /// Moves to `lockState`; see ``ClassKeys/enter(_:)``.
    package func enter(_ lockState: LockState) {
        if lockState != .unlocked { lockNotifier.tellOfLocking() }
        currentKeybag.keys.enter(lockState)
        if lockState != .unlocked { contexts.forgetGrants() }
        tellLockState()
    }

    package var hasPasscodeClass: Bool { currentKeybag.keys.hasPasscodeClass }

    /// Gives the passcode-only class a fresh key, or destroys its key and deletes every item of that class, because
    /// nothing can open their rows again.
    package func setPasscodeClass(present: Bool) throws(VaultError) {
        do {
            try currentKeybag.keys.setPasscodeClass(present: present)
            if !present { try deleteItemsOfPasscodeClass() }
        } catch {
            throw VaultError(error)
        }
    }

    /// Deletes the rows of the passcode-only class, whose key was destroyed. Deletes none if the class has a key again.
    func deleteItemsOfPasscodeClass() throws {
        try writing(for: AccessGate.authorize(.removeUnreadable)) { writer, keybag in
            guard !keybag.keys.hasPasscodeClass else { return }
            var lost: [ItemRow] = []
            try writer.reader.forEachRow { row in
                guard case .success(let row) = row, row.binding.protection == .whenPasscodeSetThisDeviceOnly else {
                    return
                }
                lost.append(row)
            }
            for row in lost { try writer.delete(row.binding.rowID, filedUnder: keybag.filedTerms(of: row)) }
        }
    }
}
