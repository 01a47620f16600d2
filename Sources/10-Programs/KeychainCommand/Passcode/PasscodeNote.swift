import VaultInterface

/// A note on standard error that requirements cannot be met yet, because no passcode is set.
enum PasscodeNote {
    /// - Parameters:
    ///   - require: What using it takes.
    ///   - sentence: What holds until a passcode is set.
    static func show(
        _ require: [ItemRequirement], _ sentence: String, _ status: () throws -> VaultStatus
    ) throws {
        guard require.contains(.presence) || require.contains(.passcode), try !status().isPasscodeSet else { return }
        CommandNote.show("no passcode is set: \(sentence) (`keychain passcode set`)")
    }
}
