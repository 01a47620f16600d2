import Bytes
import CTSS2
import Crypto
import Enclave
import FoundationEssentials
import SecureMemory

/// The TPM's guard against guessing. It belongs to the machine, not to a vault.
extension TPMConnection {
    package func lockoutState() throws(EnclaveError) -> LockoutState {
        try perform { context in try context.lockoutState() }
    }

    /// Sets the limits for guessing, and gives the lockout a password. Without the password, nobody can change the
    /// limits or end a lockout early.
    ///
    /// - Returns: False without any change if the lockout already has a password: it has an owner, who decides.
    package func takeLockout(
        _ policy: LockoutPolicy, password: SymmetricKey?, storageKey: Data
    ) throws(EnclaveError) -> Bool {
        try perform { context in
            guard try !context.lockoutState().hasPassword else { return false }
            guard let parent = try context.parent(named: storageKey) else { throw EnclaveError.otherEnclave }
            try context.setLockout(policy, session: context.session(under: parent, encrypting: []))
            if let password {
                try context.setLockoutPassword(
                    password, session: context.session(under: parent, encrypting: .command))
            }
            return true
        }
    }
}

extension TPMEnclave {
    package func lockoutTime() throws(EnclaveError) -> Int {
        let state = try connection.lockoutState()
        return state.isLockedOut ? max(1, Int(state.policy.recoveryTime)) : 0
    }

    /// See ``TPMConnection/takeLockout(_:password:storageKey:)``.
    package func takeLockout(_ policy: LockoutPolicy, password: SymmetricKey?) throws(EnclaveError) -> Bool {
        try connection.takeLockout(policy, password: password, storageKey: record.parent)
    }
}

extension TPMContext {
    func lockoutState() throws(TSSError) -> LockoutState {
        let properties = try properties(from: TPMConstant.variableProperties, count: 32)
        let flags = properties[TPMConstant.permanentFlags] ?? 0
        return LockoutState(
            policy: LockoutPolicy(
                tries: properties[TPMConstant.maximumFailures] ?? 0,
                recoveryTime: properties[TPMConstant.lockoutInterval] ?? 0,
                ownerRecoveryTime: properties[TPMConstant.lockoutRecovery] ?? 0),
            failures: properties[TPMConstant.lockoutCounter] ?? 0,
            // TPMA_PERMANENT (Part 2, section 8.6): lockoutAuthSet and inLockout.
            hasPassword: flags & 1 << 2 != 0, isLockedOut: flags & 1 << 9 != 0)
    }
}

/// The TPM's limits for guessing.
package struct LockoutPolicy: Sendable, Equatable {
    /// The number of wrong passcodes after which the TPM checks no more.
    package var tries: UInt32
    /// Seconds until one wrong passcode is forgotten.
    package var recoveryTime: UInt32
    /// Seconds for which the lockout password cannot be used after one wrong try.
    package var ownerRecoveryTime: UInt32

    package init(tries: UInt32, recoveryTime: UInt32, ownerRecoveryTime: UInt32) {
        self.tries = tries
        self.recoveryTime = recoveryTime
        self.ownerRecoveryTime = ownerRecoveryTime
    }

    /// 32 tries, and one more every ten minutes, so that a thief has 144 a day. The lockout applies to all programs on
    /// the machine that use the TPM, and each loss of power may cost a try. A lower number would lock people out by
    /// accident.
    package static let standard = LockoutPolicy(tries: 32, recoveryTime: 600, ownerRecoveryTime: 86_400)
}

/// The state of the TPM's guard against guessing. All programs of the machine share it.
package struct LockoutState: Sendable, Equatable {
    package var policy: LockoutPolicy
    /// The counted wrong authorizations.
    package var failures: UInt32
    /// Whether the lockout has a password. Without one, any user of the TPM can end a lockout.
    package var hasPassword: Bool
    package var isLockedOut: Bool
}
