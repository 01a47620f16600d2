import Access
import Bytes
import Enclave
import Foundation
import Keybag
import KeychainModel
import SecureMemory
import Vault
import VaultInterface

/// What unlocking costs beside the derivation of the passcode's key, at the cost that is calibrated on this
/// machine.
func measureUnlock(in vaults: FilledVaults, count: Int, rounds: Int) throws {
    let scratch = try ScratchVaults(vaults)
    let path = try scratch.copyFolder(count, "unlock")
    let passcode = try SecretBytes("correct horse battery staple")
    let vault = try EmbeddedVault.open(at: path)
    try vault.perform(SetPasscode(passcode, options: PasscodeOptions()), as: SampleItems.owner)
    let secret = try Data(contentsOf: URL(fileURLWithPath: path + "/device-secret"))
    let keybag = try Keybag(
        decoding: Data(contentsOf: URL(fileURLWithPath: path + "/keybag")), in: SoftwareEnclave(decoding: secret))
    guard let protection = keybag.passcode else { throw RawStore.Failure(reason: "no passcode") }
    var (ours, floor) = (Samples(.elapsed), Samples(.elapsed))
    for _ in 0..<rounds {
        try floor.measure(operations: 1) { _ = try protection.stretched(passcode) }
        try vault.perform(LockVault(after: .zero), as: SampleItems.owner)
        try ours.measure(operations: 1) { try vault.perform(UnlockVault(with: passcode), as: SampleItems.owner) }
    }
    emit("unlock.vault", ours)
    emit("unlock.argon2id", floor)
    print("unlock.memory\t\(Double(protection.cost.memoryKiB))\t\(Double(protection.cost.passes))")
}

/// What changing the passcode costs with few items and with many, at the least cost of a derivation.
func measurePasscodeChange(in vaults: FilledVaults, count: Int, rounds: Int) throws {
    let scratch = try ScratchVaults(vaults)
    let vault = try EmbeddedVault.open(at: scratch.copyFolder(count, "passcode"))
    let passcodes = [try SecretBytes("one"), try SecretBytes("other")]
    let options = PasscodeOptions(cost: .explicit(memoryMiB: 1, passes: 1))
    try vault.perform(SetPasscode(passcodes[0], options: options), as: SampleItems.owner)
    var samples = Samples(.elapsed)
    for round in 0..<rounds {
        try samples.measure(operations: 1) {
            try vault.perform(
                ChangePasscode(
                    from: passcodes[round % 2], to: passcodes[(round + 1) % 2], options: options), as: SampleItems.owner
            )
        }
    }
    emit("passcode.change.\(count)", samples)
}
