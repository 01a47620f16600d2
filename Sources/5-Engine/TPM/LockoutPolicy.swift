/// How the TPM slows guessing down.
package struct LockoutPolicy: Sendable, Equatable {
    /// Wrong passcodes after which it looks at none.
    package var tries: UInt32
    /// Seconds after which one wrong passcode is forgotten.
    package var recoveryTime: UInt32
    /// Seconds for which the lockout's own password cannot be used after it was wrong once.
    package var ownerRecoveryTime: UInt32

    package init(tries: UInt32, recoveryTime: UInt32, ownerRecoveryTime: UInt32) {
        self.tries = tries
        self.recoveryTime = recoveryTime
        self.ownerRecoveryTime = ownerRecoveryTime
    }

    /// 32 tries, and one more every ten minutes, so that a thief has 144 a day. The lockout holds for everything on the
    /// machine that uses it, and each loss of power may cost a try, so that fewer would lock people out by accident.
    package static let standard = LockoutPolicy(tries: 32, recoveryTime: 600, ownerRecoveryTime: 86_400)
}

/// The state of the TPM's guard against guessing, which all programs of the machine share.
package struct LockoutState: Sendable, Equatable {
    package var policy: LockoutPolicy
    /// Wrong authorizations that count.
    package var failures: UInt32
    /// Whether the lockout has a password. Without one whoever can use the TPM can end it.
    package var hasPassword: Bool
    package var isLockedOut: Bool
}
