extension Unicode.Scalar {
    /// Whether a terminal takes the character for a command, or it ends a line or changes the direction of text. Names
    /// that others choose are shown and logged without such characters.
    package var controlsTerminal: Bool {
        switch value {
        case 0x00...0x1F, 0x7F...0x9F, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// The character as `\u{…}`.
    package var escaped: String { "\\u{\(String(value, radix: 16))}" }
}
