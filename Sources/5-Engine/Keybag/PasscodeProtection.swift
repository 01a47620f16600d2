import Crypto
import Enclave
import FoundationEssentials
import KeychainModel
import SecureMemory

/// How the passcode's key is derived and how often a passcode may be wrong: the public part, stored in the
/// keybag.
package struct PasscodeProtection: Sendable, Equatable {
    /// Fresh for each passcode.
    package let salt: [UInt8]
    package let cost: Argon2id.Cost
    /// The number of wrong passcodes in a row that erases the vault; nil for never.
    package let eraseAfter: UInt8?
    /// What the enclave needs to know the passcode again; empty if it needs nothing.
    package let binding: Data

    package init(salt: [UInt8], cost: Argon2id.Cost, eraseAfter: UInt8?, binding: Data = Data()) {
        self.salt = salt
        self.cost = cost
        self.eraseAfter = eraseAfter
        self.binding = binding
    }

    /// With a fresh salt.
    package static func fresh(cost: Argon2id.Cost, eraseAfter: UInt8?) -> PasscodeProtection {
        PasscodeProtection(salt: .random(count: Argon2id.saltSize), cost: cost, eraseAfter: eraseAfter)
    }

    /// The key of a passcode; tangled with the device secret before it wraps anything.
    ///
    /// - Throws: ``KeybagError/wrongPasscode`` if the enclave can tell; what the key unwraps tells it else.
    package func key(for passcode: SecretBytes, in enclave: any Enclave) throws(KeybagError) -> LockedBytes {
        let stretched = try stretched(passcode)
        do {
            return try enclave.passcodeKey(stretched: stretched, binding: binding)
        } catch {
            throw error == .wrongAuthorization ? .wrongPasscode : KeybagError(error)
        }
    }

    /// The same cost and salt for `passcode`, which the enclave guards from now on, and the passcode's key.
    package func guarding(
        _ passcode: SecretBytes, in enclave: any Enclave
    ) throws(KeybagError) -> (protection: PasscodeProtection, key: LockedBytes) {
        let stretched = try stretched(passcode)
        do {
            let (binding, key) = try enclave.guardPasscode(stretched: stretched)
            return (PasscodeProtection(salt: salt, cost: cost, eraseAfter: eraseAfter, binding: binding), key)
        } catch {
            throw KeybagError(error)
        }
    }

    /// What a passcode stretches to.
    package func stretched(_ passcode: SecretBytes) throws(KeybagError) -> LockedBytes {
        do {
            return try passcode.withUnsafeBytes { passcode throws(SecureMemoryError) in
                try Argon2id.derive(from: passcode, salt: salt, cost: cost)
            }
        } catch {
            throw .passcodeMemoryUnavailable(mebibytes: Int(cost.memoryKiB) / 1024)
        }
    }
}

/// Chooses what a derivation costs on this machine.
package enum PasscodeCost {
    /// 256 MiB: more than guessing hardware has for each of its many cores, less than a laptop has to spare.
    package static let defaultMemoryKiB: UInt32 = 256 * 1024

    /// The least number of passes over ``defaultMemoryKiB`` that takes `target` here.
    package static func calibrated(target: Duration = .milliseconds(250)) throws(KeybagError) -> Argon2id.Cost {
        var cost = Argon2id.Cost(memoryKiB: defaultMemoryKiB, passes: 1)
        let salt = [UInt8](repeating: 0, count: Argon2id.saltSize)
        let clock = ContinuousClock()
        while cost.passes < 64 {
            let start = clock.now
            do {
                _ = try Argon2id.derive(from: UnsafeRawBufferPointer(start: nil, count: 0), salt: salt, cost: cost)
            } catch {
                throw .passcodeMemoryUnavailable(mebibytes: Int(cost.memoryKiB) / 1024)
            }
            let taken = clock.now - start
            if taken >= target { break }
            // The first pass fills the memory and costs more than the others; each round is measured anew.
            let missing = Int((target / taken).rounded(.up))
            cost.passes = min(64, max(cost.passes + 1, cost.passes * UInt32(clamping: missing)))
        }
        return cost
    }
}
