import Bytes
import CLibrary
import CommandKit
import SystemLibraries

/// How many columns of a terminal characters take.
package struct CharacterWidths: Sendable {
    /// wcwidth(3); nil where the terminal is not known to show more than ASCII.
    private let width: (@Sendable (Unicode.Scalar) -> Int)?

    package init(_ width: (@Sendable (Unicode.Scalar) -> Int)?) { self.width = width }

    /// The widths in the locale that the environment names.
    package static func ofLocale() -> CharacterWidths {
        // Looked up at run time, because the header declares it only for programs that ask for X/Open's extensions.
        typealias Width = @convention(c) (wchar_t) -> Int32
        guard setlocale(LC_CTYPE, "") != nil, let name = nl_langinfo(nl_item(truncatingIfNeeded: CODESET)),
            ["UTF-8", "utf8"].contains(String(cString: name)), let width: Width = libraryFunction("wcwidth")
        else { return CharacterWidths(nil) }
        return CharacterWidths { Int(width(wchar_t(truncatingIfNeeded: $0.value))) }
    }

    /// Returns how a character is shown, and in how many columns: one that the terminal may not know as its number.
    fileprivate func shown(_ scalar: Unicode.Scalar) -> (text: String, width: Int) {
        if !scalar.controlsTerminal {
            if scalar.isASCII { return (String(scalar), 1) }
            if let width = width?(scalar), width >= 0 { return (String(scalar), width) }
        }
        return (scalar.escaped, scalar.escaped.utf8.count)
    }

    private var ellipsis: String { width == nil ? "~" : "…" }

    /// Returns the beginning of a text that fits, and its width. Nothing in it moves a terminal's cursor.
    package func cut(_ text: String, to limit: Int) -> (text: String, width: Int) {
        guard limit > 0 else { return ("", 0) }
        var (result, total) = ("", 0)
        // What is left of it if the rest does not fit.
        var (short, shortWidth) = ("", 0)
        for scalar in text.unicodeScalars {
            let (text, width) = shown(scalar)
            guard total + width <= limit else { return (short + ellipsis, shortWidth + 1) }
            result += text
            total += width
            if total < limit { (short, shortWidth) = (result, total) }
        }
        return (result, total)
    }

    /// Returns a text in lines that fit, broken between words where that is possible.
    package func wrappedBetweenWords(_ text: String, to limit: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            if let last = lines.last, case let longer = wrapped(last + " " + word, to: limit), longer.count == 1 {
                lines[lines.count - 1] = longer[0]
            } else {
                lines += wrapped(String(word), to: limit)
            }
        }
        return lines
    }

    /// Returns a text in lines that fit.
    package func wrapped(_ text: String, to limit: Int) -> [String] {
        var lines = [""]
        var total = 0
        for scalar in text.unicodeScalars {
            let (text, width) = shown(scalar)
            if total + width > max(1, limit), total > 0 {
                lines.append("")
                total = 0
            }
            lines[lines.count - 1] += text
            total += width
        }
        return lines
    }
}

/// A line of the screen.
package struct ScreenLine: Sendable, Equatable {
    /// What a text is to a person.
    package enum Style: Sendable { case plain, head, selected, error, note, secret }

    package var text: String
    package var style: Style
    /// In columns.
    package var width: Int

    package init(_ text: String, _ style: Style = .plain, to columns: Int, _ widths: CharacterWidths) {
        (self.text, width) = widths.cut(text, to: columns)
        self.style = style
        // A selection is a bar across the screen.
        if style == .selected, width < columns {
            self.text += String(repeating: " ", count: columns - width)
            width = columns
        }
    }

    /// The line as the terminal takes it.
    package func drawn(isColored: Bool) -> String {
        let code: String? =
            switch style {
            case .plain, .secret: nil
            case .head: "1"
            // Not a colour.
            case .selected: "7"
            case .error: isColored ? "1;31" : nil
            case .note: isColored ? "33" : nil
            }
        return code.map { "\u{1B}[\($0)m\(text)\u{1B}[0m" } ?? text
    }
}
