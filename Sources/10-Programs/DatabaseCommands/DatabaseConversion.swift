import CommandKit
import DatabaseFiles

/// Converts a database, and shows the progress on the terminal.
enum DatabaseConversion {
    struct Answer: Encodable {
        var path: String
        var bytes: UInt64
    }

    static func run(
        _ path: String, verb: String, json: Bool,
        _ body: (ProtectedDatabaseFile, (ProtectedDatabaseFile.Progress) -> Bool) throws -> Void
    ) throws {
        let done = try showing { try body(ProtectedDatabaseFile(path: path), $0) }
        if json { return try StandardOutput.write(json: Answer(path: path, bytes: done)) }
        try StandardOutput.write(
            line: "\(path.escapedForTerminal) \(verb), \(FileProgress.amount(Double(done)))")
    }

    /// Runs a conversion, and returns how many bytes were done.
    @discardableResult
    static func showing(
        _ body: (@escaping (ProtectedDatabaseFile.Progress) -> Bool) throws -> Void
    ) throws -> UInt64 {
        var meter: FileProgress?
        var done: UInt64 = 0
        defer { meter?.end() }
        try body { progress in
            let shown = meter ?? FileProgress(progress.total)
            meter = shown
            if progress.done > done { shown.add(progress.done - done) }
            done = max(done, progress.done)
            return true
        }
        return done
    }
}
