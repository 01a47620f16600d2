import KeychainModel

/// What prompts of several kinds say.
enum PromptText {
    static let differ = "The two passcodes differ."

    /// What the passcode's field is called.
    static func label(_ titles: PromptTitles, else standard: String) -> String {
        title(titles.passcode).map { $0.hasSuffix(":") ? $0 : $0 + ":" } ?? standard
    }

    /// A program's name for a part of a prompt, on one short line; nil if it has none.
    static func title(_ text: String?) -> String? {
        let line = safe(text ?? "").split(separator: "\n").joined(separator: " ").trimmingSpaces
        return line.isEmpty ? nil : String(line.prefix(40))
    }

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

extension String {
    fileprivate var trimmingSpaces: String {
        let start = drop { $0 == " " }
        return String(start.reversed().drop { $0 == " " }.reversed())
    }
}
