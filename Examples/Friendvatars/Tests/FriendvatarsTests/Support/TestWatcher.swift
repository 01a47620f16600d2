import Foundation
import Glibc

/// Ends what this process has started, and removes its folders, when it is gone, however that came: by a kill too.
///
/// swift-keychain's `Scripts/check/run-tests.py --watch` does it at the end of a pipe from this process. When
/// `run-tests.py` runs the tests, it cleans up itself, and says so in the environment.
enum TestWatcher {
    private static let started: Result<FileHandle?, any Error> = Result { try start() }

    /// Ends a process when this one ends.
    static func end(_ process: pid_t) throws { try say("process \(process)") }

    /// Removes a folder when this process ends.
    static func remove(_ folder: URL) throws { try say("folder \(folder.path(percentEncoded: false))") }

    private static func say(_ line: String) throws {
        try started.get()?.write(contentsOf: Data((line + "\n").utf8))
    }

    private static func start() throws -> FileHandle? {
        guard ProcessInfo.processInfo.environment["KEYCHAIN_TEST_SUPERVISED"] == nil else { return nil }
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../../../Scripts/check/run-tests.py").standardizedFileURL
        let program = Process()
        program.executableURL = URL(filePath: "/usr/bin/env")
        // A session of its own: an interrupt at the terminal ends the tests and not who cleans up behind them.
        program.arguments = ["setsid", "python3", "-IS", script.path(percentEncoded: false), "--watch"]
        let pipe = Pipe()
        program.standardInput = pipe
        program.standardOutput = FileHandle.nullDevice
        program.standardError = FileHandle.nullDevice
        try program.run()
        return pipe.fileHandleForWriting
    }
}
