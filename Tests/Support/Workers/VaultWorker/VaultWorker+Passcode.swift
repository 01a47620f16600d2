import Bytes
import TestSupport
import Vault
import VaultInterface

/// Jobs that are killed while they change the passcode.
extension VaultWorker {
    /// Sets, changes and removes passcodes; prints the passcode that is set after each step, or a dash.
    static func changePasscodes(_ path: String, seed: UInt64) throws {
        let vault = try EmbeddedVault.open(at: path)
        var present = "start"
        try vault.unlock(with: SecretBytes(present), as: .owner)
        report("ready")
        var random = SeededGenerator(seed: seed)
        for step in 0... {
            let next = "passcode \(step)"
            if present == "-" {
                try vault.setPasscode(SecretBytes(next), options: .cheapest, as: .owner)
                present = next
            } else if Int.random(in: 0..<3, using: &random) == 0 {
                try vault.removePasscode(SecretBytes(present), as: .owner)
                present = "-"
            } else {
                try vault.changePasscode(
                    from: SecretBytes(present), to: SecretBytes(next), options: .cheapest, as: .owner)
                present = next
            }
            report(present)
        }
    }
}
