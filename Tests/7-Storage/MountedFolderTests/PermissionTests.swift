import Foundation
import Glibc
import TestSupport
import Testing

/// The same operations on the mount and on a plain folder beside it have the same outcomes.
@Suite struct PermissionTests {
    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Peer/operations.py"

    private func outcomes(in folder: String, asUsers: Bool) throws -> [String] {
        let arguments = ["python3", "-B", Self.script, folder] + (asUsers ? ["users"] : [])
        let outcome = try ProgramStart(arguments).run()
        guard outcome.status == 0 else { throw MountTestError("in \(folder): \(outcome.errors)") }
        return outcome.text.split(separator: "\n").map(String.init)
    }

    private func compare(_ mount: MountUnderTest, asUsers: Bool, atLeast count: Int) throws {
        let plain = mount.folder.path(of: "plain")
        try FileManager.default.createDirectory(atPath: plain, withIntermediateDirectories: false)
        let expected = try outcomes(in: plain, asUsers: asUsers)
        let found = try outcomes(in: mount.point, asUsers: asUsers)
        #expect(expected.count >= count)
        #expect(found.count == expected.count)
        for (found, expected) in zip(found, expected) { #expect(found == expected) }
    }

    @Test func sameOutcomes() throws {
        try compare(MountUnderTest(), asUsers: false, atLeast: 110)
    }

    /// Root alone can do things as others.
    @Test(.enabled(if: geteuid() == 0, "root alone can become other users"))
    func sameOutcomesForOtherUsers() throws {
        let mount = try MountUnderTest(["--allow-other"])
        chmod(mount.folder.path, 0o755)
        try compare(mount, asUsers: true, atLeast: 280)
    }
}
