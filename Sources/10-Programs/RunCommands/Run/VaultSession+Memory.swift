import CommandKit
import VaultInterface

extension VaultSession {
    /// Closes this process's memory to other processes of the user, if the vault is in this process.
    ///
    /// With a daemon it stays open: one of the same user, or without rights of its own, could not see any more which
    /// program asks. And what reads this memory could ask the daemon as this program does.
    func hideMemory() {
        if !(vault is any VaultConnection) { OwnMemory.hide() }
    }
}
