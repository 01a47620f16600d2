import Foundation
import Glibc
import TestSupport
import Testing

/// Unlocking at login, with the real PAM and a service of the test's own.
@Suite struct LoginTests {
    private let place: TemporaryFolder
    private var folder: String { place.path }

    init() throws {
        place = try TemporaryFolder()
    }

    private static let peer = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Peer/pam_login.py").path

    /// The script that unlocks at login, with something in the place of the command that shows what it gets.
    @Test func loginHandsThePasswordOn() throws {
        let script = Repository.file("Packaging/pam/keychain-unlock-at-login").path
        let command = folder + "/keychain"
        let seen = folder + "/seen"
        try writeScript(
            "env >\(seen).env\n{ echo \"$*\"; cat <&3; } >\(seen).new\nmv \(seen).new \(seen)", to: command)
        let line = "auth required pam_exec.so expose_authtok quiet \(script) \(command) \(folder)\n"
        try Data(line.utf8).write(to: URL(fileURLWithPath: folder + "/keychain-login"))
        let user = try #require(getpwuid(getuid()))
        let login = ProgramStart(
            ["python3", "-B", Self.peer, "keychain-login", String(cString: user.pointee.pw_name), folder])
        let run = try login.run(input: Data("hunter2".utf8))
        try #require(run.status == 0, "\(run.errors)")
        // The daemon starts later than the login.
        #expect(!FileManager.default.fileExists(atPath: seen))
        let runtime = "\(folder)/\(getuid())/keychain"
        try FileManager.default.createDirectory(atPath: runtime, withIntermediateDirectories: true)
        let daemon = try ListeningSocket(path: runtime + "/socket")
        try eventually("the vault is unlocked") { FileManager.default.fileExists(atPath: seen) }
        let got = String(decoding: try Data(contentsOf: URL(fileURLWithPath: seen)), as: UTF8.self)
        #expect(got.filter { $0 != "\u{0}" } == "unlock --passcode-fd 3\nhunter2")
        let environment = String(decoding: try Data(contentsOf: URL(fileURLWithPath: seen + ".env")), as: UTF8.self)
        #expect(environment.contains("XDG_RUNTIME_DIR=\(folder)/\(getuid())\n"))
        #expect(!environment.contains("hunter2"))
        withExtendedLifetime(daemon) {}
    }
}
