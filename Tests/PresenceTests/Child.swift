import Foundation
import Glibc

/// A program that runs beside a test and ends with this object.
final class Child {
    let process = Process()

    init(_ program: String, _ arguments: [String], environment: [String: String] = [:], output: Pipe? = nil) throws {
        guard access(program, X_OK) == 0 else { throw MissingPart(program) }
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"]
            .merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output ?? FileHandle.nullDevice
        if ProcessInfo.processInfo.environment["PRESENCE_TESTS_VERBOSE"] == nil {
            process.standardError = FileHandle.nullDevice
        }
        try process.run()
    }

    func end() {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    deinit {
        end()
    }
}

/// Writes a shell script from another process: one that this process has open, or a child that it starts at the
/// same moment, cannot be run (ETXTBSY).
func writeScript(_ text: String, to path: String) throws {
    let writer = try Child(
        "/bin/sh", ["-c", #"printf '#!/bin/sh\n%s\n' "$1" >"$0" && chmod 700 "$0""#, path, text])
    writer.process.waitUntilExit()
    guard writer.process.terminationStatus == 0 else { throw NothingHappened(expected: "the script \(path)") }
}

/// Something that tests need is not installed.
struct MissingPart: Error, CustomStringConvertible {
    var part: String
    init(_ part: String) { self.part = part }
    var description: String { "\(part) is missing: run Scripts/setup.sh --tests" }
}

/// A wait that was in vain.
struct NothingHappened: Error {
    var expected: String
}
