import Bytes
import CLibrary
import SystemLibraries

/// Standard error as a log: one line for each event, whatever names are in it.
struct LogStream: TextOutputStream {
    /// Whether systemd's journal reads standard error. It stores the time of each line itself.
    private let isJournal = Self.isJournal(Environment.value(of: "JOURNAL_STREAM"), at: 2)

    func write(_ line: String) {
        _ = Array(Self.line(line, forJournal: isJournal).utf8).withUnsafeBytes { SystemCall.writeAll($0, to: 2) }
    }

    /// Returns a line as it is written.
    ///
    /// - Parameter event: The line of swift-log: the time, a space, the rest, and the line's end.
    static func line(_ event: String, forJournal: Bool) -> String {
        var scalars = event.unicodeScalars[...]
        if scalars.last == "\n" { scalars.removeLast() }
        if forJournal { scalars = scalars.drop { $0 != " " }.dropFirst() }
        return scalars.reduce(into: "") { line, scalar in
            if scalar.controlsTerminal { line += scalar.escaped } else { line.unicodeScalars.append(scalar) }
        } + "\n"
    }

    /// Returns whether a descriptor leads to the journal.
    ///
    /// - Parameter stream: The device and the inode of the journal's socket, as systemd.exec(5) passes them.
    static func isJournal(_ stream: String?, at descriptor: Int32) -> Bool {
        var info = stat()
        guard let stream, fstat(descriptor, &info) == 0 else { return false }
        return stream == "\(info.st_dev):\(info.st_ino)"
    }
}
