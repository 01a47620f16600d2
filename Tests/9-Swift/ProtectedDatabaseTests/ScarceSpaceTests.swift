import Foundation
import TestSupport
import Testing

/// Conversions without room: an error that says so, and everything is as it was.
@Suite struct ScarceDatabaseSpaceTests {
    private static let program = URL(fileURLWithPath: Worker.executable).deletingLastPathComponent()
        .appendingPathComponent("ProtectedDatabaseWorker").path

    private static func run(_ arguments: String) throws -> [String] {
        let folder = try TemporaryFolder()
        let lines = """
            mkdir "$1/small"; mount -t tmpfs -o size=32m,mode=0700 tmpfs "$1/small"
            KEYCHAIN_HOME="$1/vault" KEYCHAIN_MODE=embedded exec "$0" scarce "$1/small/app.db" \(arguments)
            """
        let worker = try Worker(["-rm", "sh", "-ec", lines, program, folder.path], command: "unshare")
        return worker.remainingLines()
    }

    private static var canMount: Bool {
        let worker = try? Worker(["-rm", "true"], command: "unshare")
        return worker?.wait() == 0
    }

    private static let conversions = ["encrypt", "rekey", "decrypt"]

    /// No room from the start, and none left on the way.
    @Test(.enabled(if: canMount, "this user may not mount a small file system"))
    func fullDisk() throws {
        let expected = Self.conversions.flatMap { ["\($0) diskFull", "\($0) diskFull", "\($0) done"] }
        #expect(try Self.run("") == expected + ["done"])
    }

    @Test(.enabled(if: canMount, "this user may not mount a small file system"))
    func filesThatMayNotGrow() throws {
        let expected = Self.conversions.flatMap { ["\($0) inputOutput", "\($0) done"] }
        #expect(try Self.run("limited") == expected + ["done"])
    }
}
