import Bytes
import CLibrary
import CommandKit
import FoundationEssentials
import StatusCodes
import Synchronization
import SystemLibraries

/// A terminal whose whole screen this program has.
final class TerminalScreen: Sendable {
    private struct State {
        var isEntered = false
        /// What the rows show.
        var rows: [String] = []
    }

    /// The controlling terminal.
    let descriptor: Int32
    private let settings: termios
    private let isColored: Bool
    private let state = Mutex(State())

    init() throws(Failure) {
        guard isatty(0) == 1, isatty(1) == 1 else {
            throw .usage("this needs a terminal: `keychain list` prints what there is, also into a pipe")
        }
        let name = Environment.value(of: "TERM") ?? ""
        guard !name.isEmpty, name != "dumb" else {
            throw .usage(
                "this terminal cannot place its cursor (TERM is '\(name.escapedForTerminal)'): use `keychain list`, or set "
                    + "TERM to its name")
        }
        let descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw .system("the terminal cannot be opened: start this in a terminal of its own", errno)
        }
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0 else {
            let code = errno
            close(descriptor)
            throw .system("the terminal does not tell its settings: start this in another one", code)
        }
        self.descriptor = descriptor
        self.settings = settings
        isColored = TerminalStyle(of: 1).isColored
        ScreenRestoration.prepare(descriptor, settings)
    }

    /// The size in columns and rows; what terminals have had for long if it does not say.
    var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(descriptor, UInt(truncatingIfNeeded: TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
        else { return (80, 24) }
        return (Int(size.ws_col), min(Int(size.ws_row), ScreenRestoration.mostRows))
    }

    /// Takes the terminal, if it is not taken.
    func enter() throws(Failure) {
        let isNew = state.withLock { state in
            defer { state.isEntered = true }
            if !state.isEntered { state.rows = [] }
            return !state.isEntered
        }
        guard isNew else { return }
        ScreenRestoration.begin()
        try applySettings()
        // The other screen, no brackets around what is pasted, no cursor, no wrapping.
        try write("\u{1B}[?1049h\u{1B}[?2004l\u{1B}[?25l\u{1B}[?7l\u{1B}[0m")
    }

    private func applySettings() throws(Failure) {
        var raw = settings
        cfmakeraw(&raw)
        guard tcsetattr(descriptor, TCSAFLUSH, &raw) == 0 else {
            throw .system("the terminal does not take settings: start this in another one", errno)
        }
    }

    /// Overwrites what was shown, and gives the terminal back, if it is taken.
    func leave() {
        let wasEntered = state.withLock { state in
            defer { state = State() }
            return state.isEntered
        }
        if wasEntered { ScreenRestoration.restore() }
    }

    /// Has the next frame written whole, and the settings made again: another program may have changed both.
    func forget() throws(Failure) {
        leave()
        try enter()
    }

    /// Writes the rows that changed, all at once.
    func draw(_ lines: [ScreenLine], columns: Int) throws(Failure) {
        ScreenRestoration.use(rows: lines.count)
        let rows = lines.map { $0.drawn(isColored: isColored) }
        let former = state.withLock { state in
            defer { state.rows = rows }
            return state.rows.count == rows.count ? state.rows : []
        }
        var frame = ""
        for (index, row) in rows.enumerated() where former.isEmpty || former[index] != row {
            frame += "\u{1B}[\(index + 1);1H\(row)"
            // At the end of a full row the cursor stands on the last character.
            if lines[index].width < columns { frame += "\u{1B}[K" }
        }
        guard !frame.isEmpty else { return }
        try write(frame)
    }

    private func write(_ text: String) throws(Failure) {
        var bytes = Array(text.utf8)
        defer { bytes.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        let code = bytes.withUnsafeBytes { FileOutput.put($0, to: descriptor) }
        guard code == 0 else { throw .system("the terminal cannot be written to: start this in another one", code) }
    }

    /// Reads what was typed; nil at the end of the terminal.
    func read() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = SystemCall.retryOnInterrupt { CLibrary.read(descriptor, &buffer, buffer.count) }
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    deinit {
        leave()
        close(descriptor)
    }
}
