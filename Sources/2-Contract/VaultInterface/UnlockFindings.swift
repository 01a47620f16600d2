/// What the last unlocking found changed in the vault's folder since the one before.
package struct UnlockFindings: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// `file-agreement-key` was another one than the vault had left.
    package static let agreementKey = UnlockFindings(rawValue: 1 << 0)
    /// Records of the audit log since the last unlocking were changed, or its anchor was.
    package static let auditLog = UnlockFindings(rawValue: 1 << 1)

    /// A sentence for each finding, which says what may follow and what to do.
    package var sentences: [String] {
        var sentences: [String] = []
        if contains(.agreementKey) {
            sentences.append(
                "somebody had replaced the vault's file-agreement-key; it was put back. Somebody else may be able to "
                    + "read files of class 'complete-unless-open' that were made while the vault was locked, and the "
                    + "vault may not: make those files anew")
        }
        if contains(.auditLog) {
            sentences.append(
                "somebody changed the audit log since the last unlocking: `keychain audit --verify` shows where")
        }
        return sentences
    }
}
