import Bytes
import CLibrary
import SystemLibraries

/// Colours on a terminal (ECMA-48, SGR).
///
/// There are none where `NO_COLOR` is set (no-color.org), on a terminal called `dumb`, or in a file or pipe; `--color`
/// decides otherwise.
package struct TerminalStyle: Sendable {
    package enum Choice: String, CaseIterable, Sendable {
        case auto, always, never
    }

    /// What `--color` says.
    // Safe to share between threads: `Program` writes it once, before it starts a thread or a command. Afterwards it is
    // only read.
    nonisolated(unsafe) private static var choice = Choice.auto

    package let isColored: Bool

    package static let plain = TerminalStyle(isColored: false)

    private init(isColored: Bool) { self.isColored = isColored }

    /// The style of what is written to a descriptor.
    package init(of descriptor: Int32) {
        isColored =
            switch Self.choice {
            case .always: true
            case .never: false
            case .auto:
                isatty(descriptor) == 1 && Environment.value(of: "NO_COLOR")?.isEmpty != false
                    && Environment.value(of: "TERM") != "dumb"
            }
    }

    /// Decides for the whole program. Called before any other thread runs.
    package static func choose(_ choice: Choice) { self.choice = choice }

    package func head(_ text: String) -> String { colored(text, "1") }
    package func error(_ text: String) -> String { colored(text, "1;31") }
    package func note(_ text: String) -> String { colored(text, "33") }

    private func colored(_ text: String, _ code: String) -> String {
        isColored ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }

    /// The width of the terminal that standard output is; 80 if it does not say.
    package static var columns: Int {
        var size = winsize()
        guard ioctl(1, UInt(truncatingIfNeeded: TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
