import Foundation
import Glibc
import TestSupport
import Testing

/// A disk without room: an error that says so, and nothing is lost.
@Suite struct FullDatabaseDiskTests {
    private static let program = URL(fileURLWithPath: Worker.executable).deletingLastPathComponent()
        .appendingPathComponent("DatabaseWorker").path

    private static func run(_ journal: String, _ program: String) throws -> [String] {
        let folder = try TemporaryFolder()
        let lines = #"mount -t tmpfs -o size=3m,mode=0700 tmpfs "$1"; exec "$0" "$1/test.db" "$2" scarce 40 0"#
        let worker = try Worker(["-rm", "sh", "-ec", lines, program, folder.path, journal], command: "unshare")
        return worker.remainingLines()
    }

    private static var canMount: Bool {
        let worker = try? Worker(["-rm", "true"], command: "unshare")
        return worker?.wait() == 0
    }

    @Test(
        .enabled(if: canMount, "this user may not mount a small file system"), arguments: ["WAL", "DELETE", "PERSIST"])
    func nothingIsLost(journal: String) throws {
        let lines = try Self.run(journal, Self.program)
        #expect(lines.filter { $0 == "full" }.count > 3, "\(lines)")
        #expect(lines.last == "whole", "\(lines)")
        #expect(lines.allSatisfy { ["full", "whole"].contains($0) }, "\(lines)")
    }
}
