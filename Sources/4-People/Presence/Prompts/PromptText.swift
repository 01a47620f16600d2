import KeychainModel

/// Texts that several kinds of prompts share.
enum PromptText {
    static let differ = "The two passcodes differ."

    /// Returns the label of the passcode's field.
    static func label(_ titles: PromptTitles, else standard: String) -> String {
        title(titles.passcode).map { $0.hasSuffix(":") ? $0 : $0 + ":" } ?? standard
    }

    /// Returns a program's title for a part of a prompt, on one short line; nil without a title.
    static func title(_ text: String?) -> String? {
        let line = safe(text ?? "").split(separator: "\n").joined(separator: " ").trimmingSpaces
        return line.isEmpty ? nil : String(line.prefix(40))
    }

    /// Returns `text` without characters that a terminal or dialog takes for commands. Programs choose the text of a
    /// prompt, and must not be able to draw another prompt over it.
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
