import Access
import KeychainModel

/// What to ask a person for, step by step, to satisfy the flags of an access control. Pure.
struct PresencePlan: Equatable {
    /// Each step is over when one of its proofs was given.
    var steps: [PresenceProofs] = []

    /// - Returns: The reason why it cannot be done, before anybody is asked anything.
    static func make(
        for flags: AccessControl.Flags, with means: PresenceMeans
    ) -> Result<PresencePlan, AuthenticationFailure> {
        // What nobody knows nobody can show.
        guard flags.isSubset(of: .known) else { return .failure(.authenticationFailed) }
        let wanted = flags.presenceAlternatives
        guard let first = wanted.first else { return .success(PresencePlan()) }
        let needed =
            flags.contains(.or)
            ? [wanted.dropFirst().reduce(first) { $0.union($1) }]
            // What has but one answer comes first, and may answer what has two: a finger before the passcode,
            // since it is asked for with less trouble.
            : [.biometry, .passcode].filter { wanted.contains($0) }
                + wanted.filter { $0 != .biometry && $0 != .passcode }
        var plan = PresencePlan()
        var given: PresenceProofs = []
        for step in needed where step.isDisjoint(with: given) {
            let usable = step.intersection(means.usable)
            guard !usable.isEmpty else { return .failure(means.failure(of: step)) }
            plan.steps.append(usable)
            if usable == .passcode || usable == .biometry { given.insert(usable) }
        }
        return .success(plan)
    }
}

/// What a person could be asked for at the moment, and why not for the rest.
struct PresenceMeans: Equatable {
    var passcodeFailure: AuthenticationFailure?
    var biometryFailure: AuthenticationFailure?

    var usable: PresenceProofs {
        var usable: PresenceProofs = []
        if passcodeFailure == nil { usable.insert(.passcode) }
        if biometryFailure == nil { usable.insert(.biometry) }
        return usable
    }

    /// Why none of `proofs` can be had. The passcode's reason says more where there was a choice.
    func failure(of proofs: PresenceProofs) -> AuthenticationFailure {
        if proofs.contains(.passcode), let passcodeFailure { return passcodeFailure }
        if proofs.contains(.biometry), let biometryFailure { return biometryFailure }
        return .companionNotAvailable
    }
}
