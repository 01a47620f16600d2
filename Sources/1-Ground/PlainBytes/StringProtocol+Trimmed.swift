extension StringProtocol {
    /// The text without white space at its ends: what Foundation's `trimmingCharacters(in: .whitespacesAndNewlines)`
    /// returns.
    package var trimmed: String { trimmed { $0.properties.isWhitespace } }

    /// The text without blanks and tabs at its ends; ends of lines stay.
    package var trimmedInLine: String {
        trimmed { $0 == "\t" || $0.properties.generalCategory == .spaceSeparator }
    }

    /// The text without such characters at its ends.
    package func trimmed(where isTaken: (Unicode.Scalar) -> Bool) -> String {
        let scalars = unicodeScalars
        guard let first = scalars.firstIndex(where: { !isTaken($0) }),
            let last = scalars.lastIndex(where: { !isTaken($0) })
        else { return "" }
        return String(String.UnicodeScalarView(scalars[first...last]))
    }
}
