/// The ways in which a person has shown to be present.
package struct PresenceProofs: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The vault's passcode was given.
    package static let passcode = PresenceProofs(rawValue: 1 << 0)
    /// An enrolled finger or face was recognised.
    package static let biometry = PresenceProofs(rawValue: 1 << 1)
    /// A paired device was near.
    package static let companion = PresenceProofs(rawValue: 1 << 2)
}

extension AccessControl.Flags {
    /// Whether `proofs` satisfy what these flags ask of a person: all of it, or one of it with
    /// ``or``. An application password is no matter of presence and not looked at. Nothing satisfies flags that are not
    /// known.
    package func isSatisfied(by proofs: PresenceProofs) -> Bool {
        guard isSubset(of: .known) else { return false }
        let wanted = presenceAlternatives
        if wanted.isEmpty { return true }
        return contains(.or)
            ? wanted.contains { !$0.isDisjoint(with: proofs) } : wanted.allSatisfy { !$0.isDisjoint(with: proofs) }
    }

    /// For each constraint on a person the proofs of which any one will do.
    package var presenceAlternatives: [PresenceProofs] {
        var wanted: [PresenceProofs] = []
        if contains(.userPresence) { wanted.append([.passcode, .biometry]) }
        if contains(.biometryAny) || contains(.biometryCurrentSet) { wanted.append(.biometry) }
        if contains(.devicePasscode) { wanted.append(.passcode) }
        if contains(.companion) { wanted.append(.companion) }
        return wanted
    }
}
