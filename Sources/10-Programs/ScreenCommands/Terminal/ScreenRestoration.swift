import Bytes
import CLibrary
import Synchronization

/// Gives the terminal back, also in the handler of a signal. All its memory is allocated before.
enum ScreenRestoration {
    /// More rows than a terminal has.
    static let mostRows = 1_000

    private struct Record {
        var descriptor: Int32
        var settings: termios
        /// Overwrites each row, one after the other.
        var wiping: UnsafeMutablePointer<UInt8>
        var ending: UnsafeMutablePointer<UInt8>
        var endingCount: Int
    }

    /// What a handler of signals puts back.
    // Safe to share between threads and handlers: it is written once, before a handler that reads it is installed, and
    // what it points to is never freed.
    nonisolated(unsafe) private static var record: UnsafeMutablePointer<Record>?
    /// Whether the terminal is this program's now.
    private static let isNeeded = Atomic<Bool>(false)
    /// How many bytes of the wiping are for the rows that were used.
    private static let wipingCount = Atomic<Int>(0)

    /// What a row takes: its number has four digits.
    private static let rowLength = 10

    static func prepare(_ descriptor: Int32, _ settings: termios) {
        // Erasing the whole screen at once would move it into the scrollback of some terminals.
        let rows = (1...mostRows).map { row -> String in
            let digits = String(row)
            return "\u{1B}[\(String(repeating: "0", count: 4 - digits.count))\(digits)H\u{1B}[K"
        }
        let wiping = Array(rows.joined().utf8)
        // Attributes off; home; wrapping on; cursor on; the normal screen.
        let ending = Array("\u{1B}[0m\u{1B}[H\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l".utf8)
        let new = UnsafeMutablePointer<Record>.allocate(capacity: 1)
        new.initialize(
            to: Record(
                descriptor: descriptor, settings: settings, wiping: copy(wiping), ending: copy(ending),
                endingCount: ending.count))
        record = new
    }

    private static func copy(_ bytes: [UInt8]) -> UnsafeMutablePointer<UInt8> {
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count)
        memory.initialize(from: bytes, count: bytes.count)
        return memory
    }

    /// Marks the terminal as this program's.
    static func begin() { isNeeded.store(true, ordering: .sequentiallyConsistent) }

    /// - Parameter rows: How many rows have been written to.
    static func use(rows: Int) {
        let count = min(rows, mostRows) * rowLength
        if count > wipingCount.load(ordering: .relaxed) { wipingCount.store(count, ordering: .relaxed) }
    }

    /// Overwrites what was shown, and gives the terminal back, once after each ``begin()``. It calls only what the
    /// handler of a signal may call.
    static func restore() {
        guard isNeeded.exchange(false, ordering: .sequentiallyConsistent), let record else { return }
        put(record.pointee.wiping, wipingCount.load(ordering: .relaxed), record.pointee.descriptor)
        put(record.pointee.ending, record.pointee.endingCount, record.pointee.descriptor)
        // What was typed and not yet read must not reach the shell as a command.
        tcsetattr(record.pointee.descriptor, TCSAFLUSH, &record.pointee.settings)
    }

    private static func put(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ descriptor: Int32) {
        var done = 0
        while done < count {
            let written = write(descriptor, bytes + done, count - done)
            if written <= 0 {
                if written < 0, errno == EINTR { continue }
                return
            }
            done += written
        }
    }
}
