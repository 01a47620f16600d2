import Foundation
import FriendvatarsKit

/// What the standard output can show.
enum ColorDepth {
    case none
    /// 6 by 6 by 6 colors.
    case palette
    /// 24 bits.
    case full

    /// The color depth of the output: none if it is not a terminal, or if the user wants no colors (no-color.org).
    static var ofOutput: ColorDepth {
        let environment = ProcessInfo.processInfo.environment
        let (term, colors) = (environment["TERM"] ?? "", environment["COLORTERM"] ?? "")
        guard isatty(STDOUT_FILENO) == 1, (environment["NO_COLOR"] ?? "").isEmpty, !term.isEmpty, term != "dumb" else {
            return .none
        }
        return ["truecolor", "24bit"].contains(colors) || term.hasSuffix("-direct") ? .full : .palette
    }
}

extension GeneratedPattern {
    /// The pattern in lines of text, two rows of squares in each.
    func lines(_ depth: ColorDepth) -> [String] {
        stride(from: 0, to: Self.size, by: 2).map { row in
            let blocks = (0..<Self.size).map { column -> Character in
                let lower = row + 1 < Self.size && squares[row + 1][column]
                return switch (squares[row][column], lower) {
                case (true, true): "█"
                case (true, false): "▀"
                case (false, true): "▄"
                case (false, false): " "
                }
            }
            let (begin, end) = escapes(depth)
            return begin + String(blocks) + end
        }
    }

    /// "Select graphic rendition" of ECMA-48, section 8.3.117, with the colors of ISO/IEC 8613-6.
    private func escapes(_ depth: ColorDepth) -> (String, String) {
        let (red, green, blue) = color
        // The cube begins at 16.
        func level(_ value: Int) -> Int { (value * 5 + 127) / 255 }
        return switch depth {
        case .none: ("", "")
        case .palette: ("\u{1B}[38;5;\(16 + 36 * level(red) + 6 * level(green) + level(blue))m", "\u{1B}[0m")
        case .full: ("\u{1B}[38;2;\(red);\(green);\(blue)m", "\u{1B}[0m")
        }
    }
}
