import Access
import KeychainModel
import Testing

@testable import Presence

/// What is asked for, and what is known to be in vain.
@Suite struct PlanTests {
    private static let all = PresenceMeans(passcodeFailure: nil, biometryFailure: nil)
    private static let onlyPasscode = PresenceMeans(passcodeFailure: nil, biometryFailure: .biometryNotEnrolled)
    private static let onlyFinger = PresenceMeans(passcodeFailure: .notInteractive, biometryFailure: nil)
    private static let nothing = PresenceMeans(
        passcodeFailure: .notInteractive, biometryFailure: .biometryNotAvailable)

    @Test(
        arguments: [
            (AccessControl.Flags.userPresence, all, [[.passcode, .biometry]]),
            (.userPresence, onlyPasscode, [[.passcode]]),
            (.userPresence, onlyFinger, [[.biometry]]),
            (.biometryAny, all, [[.biometry]]),
            (.devicePasscode, all, [[.passcode]]),
            ([.biometryAny, .devicePasscode], all, [[.biometry], [.passcode]]),
            ([.biometryCurrentSet, .devicePasscode, .and], all, [[.biometry], [.passcode]]),
            ([.biometryCurrentSet, .devicePasscode, .or], all, [[.passcode, .biometry]]),
            ([.biometryAny, .devicePasscode, .or], onlyPasscode, [[.passcode]]),
            ([.companion, .devicePasscode, .or], all, [[.passcode]]),
            (.applicationPassword, nothing, []),
        ] as [(AccessControl.Flags, PresenceMeans, [PresenceProofs])])
    func steps(_ flags: AccessControl.Flags, _ means: PresenceMeans, _ steps: [PresenceProofs]) throws {
        let plan = try PresencePlan.make(for: flags, with: means).get()
        #expect(plan.steps == steps)
        #expect(flags.isSatisfied(by: steps.reduce([]) { $0.union($1) }))
    }

    @Test(
        arguments: [
            (.userPresence, nothing, .notInteractive),
            (.biometryAny, onlyPasscode, .biometryNotEnrolled),
            (.devicePasscode, onlyFinger, .notInteractive),
            ([.biometryAny, .devicePasscode, .and], onlyPasscode, .biometryNotEnrolled),
            ([.biometryAny, .devicePasscode], onlyFinger, .notInteractive),
            (.companion, all, .companionNotAvailable),
        ] as [(AccessControl.Flags, PresenceMeans, AuthenticationFailure)])
    func refusals(_ flags: AccessControl.Flags, _ means: PresenceMeans, _ failure: AuthenticationFailure) {
        #expect(PresencePlan.make(for: flags, with: means) == .failure(failure))
    }
}
