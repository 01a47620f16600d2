import KeychainModel

/// What prompts of several kinds say.
enum PromptText {
    static let differ = "The two passcodes differ."

    /// `text` without anything that a terminal or dialog would take for a command: programs choose what a
    /// prompt says, and must not be able to paint another one over it.
    static func safe(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.prefix(1_000).map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control where scalar == "\n": scalar
                    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
                        .paragraphSeparator:
                        " "
                    default: scalar
                    }
                }))
    }
}

extension SecretBytes {
    /// In time that depends on the lengths alone.
    func hasSameBytes(as other: SecretBytes) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { mine in
            other.withUnsafeBytes { theirs in zip(mine, theirs).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0 }
        }
    }
}
