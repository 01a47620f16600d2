import Bytes
import CLibrary
import CommandKit
import FoundationEssentials
import SystemLibraries

/// The clipboard of the session, or what a terminal has in its place.
enum Clipboard: String, Codable {
    case wayland
    /// X11, through one of two programs.
    case xclip, xsel
    /// A buffer of tmux, which hands it on to its terminal.
    case tmux
    /// The clipboard of the terminal's own machine, also over ssh (xterm's control sequence OSC 52).
    case terminal

    /// The most bytes of a text that terminals take: the sequence of xterm has 74,994 digits of Base64.
    private static let longest = 56_244
    private static let buffer = "keychain"

    /// Returns the clipboard that a person at this session pastes from; nil if there is none.
    static func find() -> Clipboard? {
        func isSet(_ name: String) -> Bool { Environment.value(of: name)?.isEmpty == false }
        if isSet("WAYLAND_DISPLAY"), ToolProcess.exists("wl-copy"), ToolProcess.exists("wl-paste") { return .wayland }
        if isSet("DISPLAY"), ToolProcess.exists("xclip") { return .xclip }
        if isSet("DISPLAY"), ToolProcess.exists("xsel") { return .xsel }
        if isSet("TMUX"), ToolProcess.exists("tmux") { return .tmux }
        let terminal = open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return nil }
        close(terminal)
        return .terminal
    }

    /// Whether somebody can ask what is in it.
    var isReadable: Bool { self != .terminal }

    var name: String {
        switch self {
        case .wayland, .xclip, .xsel: "the clipboard"
        case .tmux: "tmux's buffer and the clipboard of its terminal"
        case .terminal: "the clipboard of this terminal"
        }
    }

    /// - Returns: Whether it was taken.
    func put(_ text: Data) -> Bool {
        switch self {
        case .wayland: return ToolProcess.run(["wl-copy", "--type", "text/plain"], input: text) != nil
        case .xclip: return ToolProcess.run(["xclip", "-selection", "clipboard", "-in"], input: text) != nil
        case .xsel: return ToolProcess.run(["xsel", "--clipboard", "--input"], input: text) != nil
        case .tmux: return ToolProcess.run(["tmux", "load-buffer", "-w", "-b", Self.buffer, "-"], input: text) != nil
        case .terminal:
            guard text.count <= Self.longest else { return false }
            var sequence = Data("\u{1B}]52;c;".utf8) + text.base64EncodedData() + Data([7])
            defer { sequence.resetBytes(in: sequence.startIndex..<sequence.endIndex) }
            let terminal = open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY)
            guard terminal >= 0 else { return false }
            defer { close(terminal) }
            return (try? FileOutput.write(sequence, to: terminal)) != nil
        }
    }

    /// Returns what is in it; nil if that cannot be found out.
    func contents() -> Data? {
        let limit = 16 << 20
        return switch self {
        case .wayland: ToolProcess.run(["wl-paste", "--no-newline"], limit: limit)
        case .xclip: ToolProcess.run(["xclip", "-selection", "clipboard", "-out"], limit: limit)
        case .xsel: ToolProcess.run(["xsel", "--clipboard", "--output"], limit: limit)
        case .tmux: ToolProcess.run(["tmux", "show-buffer", "-b", Self.buffer], limit: limit)
        case .terminal: nil
        }
    }

    func clear() {
        switch self {
        case .wayland: _ = ToolProcess.run(["wl-copy", "--clear"])
        case .xclip: _ = ToolProcess.run(["xclip", "-selection", "clipboard", "-in"])
        case .xsel: _ = ToolProcess.run(["xsel", "--clipboard", "--clear"])
        case .tmux: _ = ToolProcess.run(["tmux", "delete-buffer", "-b", Self.buffer])
        case .terminal: break
        }
    }
}
