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
