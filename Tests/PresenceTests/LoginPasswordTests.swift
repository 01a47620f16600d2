import Access
import Bytes
import Foundation
import Glibc
import Presence
import TestSupport
import Testing

/// Against the real PAM, with services of the test's own.
@Suite struct LoginPasswordTests {
    private let place: TemporaryFolder
    private var folder: String { place.path }

    init() throws {
        place = try TemporaryFolder()
        guard
            FileManager.default.fileExists(atPath: "/usr/lib/\(Self.triplet)/libpam.so.0")
                || FileManager.default.fileExists(atPath: "/lib/\(Self.triplet)/libpam.so.0")
        else { throw MissingPart("libpam.so.0") }
    }

    #if arch(arm64)
    private static let triplet = "aarch64-linux-gnu"
    #else
    private static let triplet = "x86_64-linux-gnu"
    #endif

    /// A service whose password is checked by a script.
    private func service(_ name: String = "keychain", script: String, modules: String = "") throws {
        let path = folder + "/\(name).sh"
        try writeScript(script, to: path)
        let lines = "\(modules)\nauth required pam_exec.so expose_authtok quiet \(path)\n"
        try Data(lines.utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
    }

    private let checking = #"p=$(tr -d '\000'); [ "$PAM_USER" = alice ] && [ "$p" = "pass word ä" ]"#

    @Test func rightAndWrongPasswords() throws {
        try service(script: checking)
        let login = LoginPassword(user: "alice", folder: folder, timeout: Patience.duration)
        #expect(login.isPasscodeSet)
        #expect(login.verify(try SecretBytes("pass word ä")) == .correct)
        #expect(login.verify(try SecretBytes("pass word")) == .wrong(wait: .zero))
        #expect(login.verify(try SecretBytes("")) == .wrong(wait: .zero))
        #expect(
            LoginPassword(user: "bob", folder: folder, timeout: Patience.duration).verify(
                try SecretBytes("pass word ä")) == .wrong(wait: .zero))
    }

    @Test func passwordWithANulIsNotCutOff() throws {
        try service(script: checking)
        let login = LoginPassword(user: "alice", folder: folder, timeout: Patience.duration)
        #expect(login.verify(try SecretBytes("pass word ä\u{0}more")) != .correct)
    }

    @Test func missingServiceIsSaid() throws {
        let login = LoginPassword(user: "alice", folder: folder, timeout: Patience.duration)
        #expect(!login.isPasscodeSet)
        guard case .failed = login.verify(try SecretBytes("x")) else {
            Issue.record("a password was checked without a service")
            return
        }
    }

    @Test func hangingModuleDoesNotHangTheQuestion() throws {
        let hold = folder + "/hold"
        try #require(mkfifo(hold, 0o600) == 0)
        // Until somebody writes there.
        try service(script: "exec cat \(hold)")
        let login = LoginPassword(user: "alice", folder: folder, timeout: .milliseconds(200))
        // Opening the pipe for both directions wakes a program that waits to open the other end.
        let unblock = { @Sendable in close(open(hold, O_RDWR | O_CLOEXEC)) }
        let verdict = try withDeadline("the question is given up", ending: { _ = unblock() }) {
            try login.verify(SecretBytes("x"))
        }
        guard case .failed = verdict else {
            Issue.record("a module that hangs let somebody in")
            return
        }
        // The module hangs still, and goes on now.
        let writer = withDeadline("the module runs", ending: { _ = unblock() }) { open(hold, O_WRONLY | O_CLOEXEC) }
        #expect(writer >= 0)
        close(writer)
    }

    /// The password goes to a first question without echo and to nothing else.
    @Test func passwordIsGivenOnce() throws {
        try service(script: "cat > \(folder)/seen")
        let login = LoginPassword(user: "alice", folder: folder, timeout: Patience.duration)
        #expect(login.verify(try SecretBytes("secret")) == .correct)
        let seen = try Data(contentsOf: URL(fileURLWithPath: folder + "/seen"))
        // Some versions of pam_exec end it with a NUL.
        #expect(seen.filter { $0 != 0 } == Data("secret".utf8))
    }

    /// The script that unlocks at login, with something in the place of the command that shows what it gets.
    @Test func loginHandsThePasswordOn() throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Packaging/pam/keychain-unlock-at-login").standardized.path
        let command = folder + "/keychain"
        let seen = folder + "/seen"
        try writeScript(
            "env >\(seen).env\n{ echo \"$*\"; cat <&3; } >\(seen).new\nmv \(seen).new \(seen)", to: command)
        let line = "auth required pam_exec.so expose_authtok quiet \(script) \(command) \(folder)\n"
        try Data(line.utf8).write(to: URL(fileURLWithPath: folder + "/keychain-login"))
        let user = try #require(getpwuid(getuid()))
        let login = LoginPassword(
            user: String(cString: user.pointee.pw_name), service: "keychain-login", folder: folder,
            timeout: Patience.duration)
        #expect(login.verify(try SecretBytes("hunter2")) == .correct)
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
