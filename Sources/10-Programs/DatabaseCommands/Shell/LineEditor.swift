import Bytes
import CLibrary
import CommandKit
import FoundationEssentials
import Synchronization
import SystemLibraries

/// Reads lines at a terminal, with GNU readline or libedit if one of them is on the machine.
///
/// Both give editing and the lines that were typed before. Those stay in memory: statements can hold secrets.
final class LineEditor {
    enum Line: Equatable {
        case text(String)
        /// Ctrl-C was typed.
        case interrupted
        /// The end of the input.
        case end
    }

    private let interrupts: ShellInterrupts
    private let library: Library?

    init(_ interrupts: ShellInterrupts) {
        self.interrupts = interrupts
        library = Library()
    }

    /// Reads a line, without its newline.
    func read(_ prompt: String) -> Line {
        guard let library else { return readPlain(prompt) }
        library.begin(prompt)
        defer { library.end() }
        while true {
            switch wait() {
            case .interrupted:
                // On a line of its own, as a shell shows it.
                try? StandardOutput.write(line: "")
                return .interrupted
            case .input: library.readCharacter()
            case .failed: return .end
            }
            guard let line = library.takeLine() else { continue }
            if case .text(let text) = line, text.contains(where: { !$0.isWhitespace }) { library.remember(text) }
            return line
        }
    }

    /// The terminal itself has the keys for erasing.
    private func readPlain(_ prompt: String) -> Line {
        try? StandardOutput.write(Data(prompt.utf8))
        var bytes: [UInt8] = []
        while true {
            switch wait() {
            case .interrupted:
                try? StandardOutput.write(line: "")
                return .interrupted
            case .failed: return .end
            case .input:
                var byte: UInt8 = 0
                let count = CLibrary.read(0, &byte, 1)
                guard count == 1 else { return bytes.isEmpty ? .end : .text(String(decoding: bytes, as: UTF8.self)) }
                if byte == 0x0A { return .text(String(decoding: bytes, as: UTF8.self)) }
                bytes.append(byte)
            }
        }
    }

    private enum Event {
        case input, interrupted, failed
    }

    private func wait() -> Event {
        var polled = [
            pollfd(fd: interrupts.descriptor, events: Int16(truncatingIfNeeded: POLLIN), revents: 0),
            pollfd(fd: 0, events: Int16(truncatingIfNeeded: POLLIN), revents: 0),
        ]
        while poll(&polled, 2, -1) < 0 { guard errno == EINTR else { return .failed } }
        guard polled[0].revents == 0 else {
            interrupts.forget()
            return .interrupted
        }
        return .input
    }
}

/// The functions of readline, which libedit has under the same names.
private struct Library {
    private typealias Handler = @convention(c) (UnsafeMutablePointer<CChar>?) -> Void

    private let install: @convention(c) (UnsafePointer<CChar>, Handler) -> Void
    private let remove: @convention(c) () -> Void
    let readCharacter: @convention(c) () -> Void
    private let addHistory: @convention(c) (UnsafePointer<CChar>) -> Int32

    /// What the library passed to its handler, which cannot have a context.
    private static let line = Mutex<LineEditor.Line?>(nil)

    init?() {
        for name in ["libreadline.so.8", "libedit.so.2"] {
            if let library = try? SystemLibrary(name, provides: "editing of lines"), let found = try? Library(library) {
                self = found
                return
            }
        }
        return nil
    }

    private init(_ library: SystemLibrary) throws(SystemLibraryError) {
        install = try library.function("rl_callback_handler_install")
        remove = try library.function("rl_callback_handler_remove")
        readCharacter = try library.function("rl_callback_read_char")
        addHistory = try library.function("add_history")
        // A tab is a tab: there are no files to complete.
        let insert: @convention(c) (Int32, Int32) -> Int32 = try library.function("rl_insert")
        let bind: @convention(c) (Int32, @convention(c) (Int32, Int32) -> Int32) -> Int32 =
            try library.function("rl_bind_key")
        _ = bind(9, insert)
    }

    func begin(_ prompt: String) {
        Self.line.withLock { $0 = nil }
        prompt.withCString { prompt in
            install(prompt) { text in
                guard let text else { return Library.line.withLock { $0 = .end } }
                let line = String(cString: text)
                free(text)
                Library.line.withLock { $0 = .text(line) }
            }
        }
    }

    func end() { remove() }

    func takeLine() -> LineEditor.Line? { Self.line.withLock { $0 } }

    func remember(_ line: String) { _ = line.withCString { addHistory($0) } }
}
