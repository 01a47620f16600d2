import Access
import Items
import Keybag
import KeychainModel
import Sealing
import VaultInterface

/// What happens to the device that the vault is on.
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

    /// Gives the passcode-only class a fresh key, or destroys the one it has, and with it every item
    /// of that class: nothing can open their rows again, so they must not be found either.
    package func setPasscodeClass(present: Bool) throws(VaultError) {
        do {
            try currentKeybag.keys.setPasscodeClass(present: present)
            if !present { try deleteItemsOfPasscodeClass() }
        } catch {
            throw VaultError(error)
        }
    }

    /// Deletes the rows whose key went with the passcode; none if the class has a key again.
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
