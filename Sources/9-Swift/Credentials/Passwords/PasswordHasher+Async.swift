import Bytes
import Foundation
import Keychain

extension PasswordHasher {
    /// The text of a new hash, on threads of this module's own: as many at a time as there are processors, so that a
    /// rush of people who sign in waits instead of taking all memory. No more than ``waitingLimit`` wait. See the
    /// synchronous form.
    ///
    /// - Throws: As the synchronous form, ``CredentialsError/Code/busy``, and ``CredentialsError/Code/taskCanceled``.
    public func hash(_ password: SignInPassword) async throws -> String {
        try await inBackground { try hash(password) }
    }

    /// Checks a password, on threads of this module's own. See the synchronous form, and `hash(_:)`.
    ///
    /// - Throws: As the synchronous form, ``CredentialsError/Code/busy``, and ``CredentialsError/Code/taskCanceled``.
    public func verify(
        _ password: SignInPassword, against hash: String?, account: String = ""
    ) async throws -> Verification {
        try await inBackground {
            try verify(password, against: hash, account: account)
        }
    }

    private func inBackground<Result: Sendable>(
        _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await threads.run(
            orThrow: CredentialsError.taskCanceled,
            waitingLimit: .init(waitingLimit, orThrow: CredentialsError.tooManyWait), work)
    }

    /// 32 for each processor: at the standard cost they are worked off in some seconds.
    public static let standardWaitingLimit = 32 * ProcessInfo.processInfo.activeProcessorCount

    /// A cost at which one try takes `duration` on this machine as it is now: three passes at least, and 64 at most,
    /// however long that is.
    ///
    /// - Parameters:
    ///   - duration: At most ten seconds.
    ///   - memoryKiB: What each sign-in takes of the machine's memory while it lasts.
    /// - Throws: ``CredentialsError``.
    public static func calibratedCost(
        for duration: Duration = .milliseconds(250), memoryKiB: UInt32 = standardCost.memoryKiB
    ) throws -> Argon2Cost {
        let hasher = PasswordHasher(cost: Argon2Cost(memoryKiB: memoryKiB, passes: standardCost.passes))
        let password = try SignInPassword("calibration")
        let clock = ContinuousClock()
        return try calibratedCost(for: duration, memoryKiB: memoryKiB) {
            let start = clock.now
            _ = try hasher.hash(password)
            return clock.now - start
        }
    }

    /// What ``calibratedCost(for:memoryKiB:)`` makes of its measurements.
    ///
    /// - Parameter measure: Tries once with that memory and the standard passes, and returns how long it took.
    static func calibratedCost(
        for duration: Duration, memoryKiB: UInt32, measure: () throws -> Duration
    ) throws -> Argon2Cost {
        // The first one pays for memory that the kernel gives and clears.
        _ = try measure()
        let once = max(try measure(), .microseconds(1))
        let factor = min(duration, .seconds(10)) / once
        let passes = (Double(standardCost.passes) * factor).rounded(.up)
        return Argon2Cost(
            memoryKiB: memoryKiB, passes: UInt32(clamping: min(64, max(Double(standardCost.passes), passes))))
    }
}

extension BlockingThreads {
    /// For hashing: each try takes a processor and much memory for a while.
    static let hashing = BlockingThreads(
        limit: max(1, ProcessInfo.processInfo.activeProcessorCount), idleTime: .seconds(10))
}

extension CredentialsError {
    static let taskCanceled = CredentialsError(
        .taskCanceled, message: "the task was canceled before the password was looked at")
    static let tooManyWait = CredentialsError(.busy, message: "too many sign-ins are waiting; try again")
}
