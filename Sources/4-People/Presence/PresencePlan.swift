import Access
import KeychainModel

/// The steps of asking a person that satisfy the flags of an access control. Pure.
struct PresencePlan: Equatable {
    /// One of its proofs completes a step.
    var steps: [PresenceProofs] = []

    /// - Returns: The plan, or the reason why it is impossible, before a person is asked.
    static func make(
        for flags: AccessControl.Flags, with means: PresenceMeans
    ) -> Result<PresencePlan, AuthenticationFailure> {
        // Nobody can satisfy an unknown condition.
        guard flags.isSubset(of: .known) else { return .failure(.authenticationFailed) }
        let wanted = flags.presenceAlternatives
        guard let first = wanted.first else { return .success(PresencePlan()) }
        let needed =
            flags.contains(.or)
            ? [wanted.dropFirst().reduce(first) { $0.union($1) }]
            // Steps with only one possible proof come first, because their proof may also satisfy a step with two. A
            // finger comes before the passcode, because it is easier to give.
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

/// The proofs that a person can give now, and the reason for each that is not possible.
struct PresenceMeans: Equatable {
    var passcodeFailure: AuthenticationFailure?
    var biometryFailure: AuthenticationFailure?

    var usable: PresenceProofs {
        var usable: PresenceProofs = []
        if passcodeFailure == nil { usable.insert(.passcode) }
        if biometryFailure == nil { usable.insert(.biometry) }
        return usable
    }

    /// Returns the reason why none of `proofs` is possible. With a choice, the reason for the passcode is more useful.
    func failure(of proofs: PresenceProofs) -> AuthenticationFailure {
        if proofs.contains(.passcode), let passcodeFailure { return passcodeFailure }
        if proofs.contains(.biometry), let biometryFailure { return biometryFailure }
        return .companionNotAvailable
    }
}
