import Bytes
import Enclave
import FoundationEssentials
import SecureMemory

/// The public parameters of the passcode, stored in the keybag: the derivation of its key, and the allowed number of
/// wrong passcodes.
package struct PasscodeProtection: Sendable, Equatable {
    /// New for each passcode.
    package let salt: [UInt8]
    package let cost: Argon2id.Cost
    /// The number of wrong passcodes in a row that erases the vault; nil for never.
    package let eraseAfter: UInt8?
    /// The enclave's data for checking the passcode; empty if it needs none.
    package let binding: Data

    package init(salt: [UInt8], cost: Argon2id.Cost, eraseAfter: UInt8?, binding: Data = Data()) {
        self.salt = salt
        self.cost = cost
        self.eraseAfter = eraseAfter
        self.binding = binding
    }

    /// Makes parameters with a new salt.
    ///
    /// - Parameter isAnchored: See ``isAnchored``.
    package static func fresh(
        cost: Argon2id.Cost, eraseAfter: UInt8?, isAnchored: Bool = false
    ) -> PasscodeProtection {
        var salt: [UInt8]
        repeat {
            salt = .random(count: Argon2id.saltSize)
            if isAnchored { salt.replaceSubrange(0..<anchorMark.count, with: anchorMark) }
        } while salt.starts(with: anchorMark) != isAnchored
        return PasscodeProtection(salt: salt, cost: cost, eraseAfter: eraseAfter)
    }

    /// Whether the vault's audit log has an anchor. The salt tells it, because nobody can change the salt and keep what
    /// the passcode opens. So the vault remembers the anchor, even if somebody removes the log with its anchor.
    package var isAnchored: Bool { salt.starts(with: Self.anchorMark) }

    private static let anchorMark = [UInt8]("ANCH".utf8)

    /// Returns the key of a passcode. It is combined with the device secret before it wraps anything.
    ///
    /// - Throws: ``KeybagError/wrongPasscode`` if the enclave checks the passcode. Otherwise a wrong passcode shows
    ///   only at unwrapping.
    package func key(for passcode: SecretBytes, in enclave: any Enclave) throws(KeybagError) -> LockedBytes {
        let stretched = try stretched(passcode)
        do {
            return try enclave.passcodeKey(stretched: stretched, binding: binding)
        } catch {
            throw error == .wrongAuthorization ? .wrongPasscode : KeybagError(error)
        }
    }

    /// Returns the same cost and salt with the enclave's data for `passcode`, which it guards from now on, and the
    /// passcode's key.
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

    /// Returns the stretched passcode.
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

/// Chooses the cost of a derivation on this machine.
package enum PasscodeCost {
    /// 256 MiB: more than guessing hardware has for each of its many cores, but less than a laptop has to spare.
    package static let defaultMemoryKiB: UInt32 = 256 * 1024

    /// Returns the smallest number of passes over ``defaultMemoryKiB`` that takes `target` on this machine.
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
            // The first pass fills the memory and takes longer than the others, so each round is measured again.
            let missing = Int(clamping: (target / taken).rounded(.up))
            cost.passes = min(64, max(cost.passes + 1, cost.passes * UInt32(clamping: missing)))
        }
        return cost
    }
}
