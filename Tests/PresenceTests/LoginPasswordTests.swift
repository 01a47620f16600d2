import Access
import Foundation
import Glibc
import KeychainModel
import Presence
import Testing

/// Against the real PAM, with services of the test's own.
@Suite struct LoginPasswordTests {
    let folder = FileManager.default.temporaryDirectory.path + "/login-\(UUID().uuidString)"

    init() throws {
        guard
            FileManager.default.fileExists(atPath: "/usr/lib/\(Self.triplet)/libpam.so.0")
                || FileManager.default.fileExists(atPath: "/lib/\(Self.triplet)/libpam.so.0")
        else { throw MissingPart("libpam.so.0") }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    }

    #if arch(arm64)
        private static let triplet = "aarch64-linux-gnu"
    #else
        private static let triplet = "x86_64-linux-gnu"
    #endif

    /// A service whose password is checked by a script.
    private func service(_ name: String = "keychain", script: String, modules: String = "") throws {
        let path = folder + "/\(name).sh"
        try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(fileURLWithPath: path))
        chmod(path, 0o700)
        let lines = "\(modules)\nauth required pam_exec.so expose_authtok quiet \(path)\n"
        try Data(lines.utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
    }

    private let checking = #"p=$(tr -d '\000'); [ "$PAM_USER" = alice ] && [ "$p" = "pass word ä" ]"#

    @Test func rightAndWrongPasswords() throws {
        try service(script: checking)
        let login = LoginPassword(user: "alice", folder: folder)
        #expect(login.isPasscodeSet)
        #expect(login.verify(try SecretBytes("pass word ä")) == .correct)
        #expect(login.verify(try SecretBytes("pass word")) == .wrong(wait: .zero))
        #expect(login.verify(try SecretBytes("")) == .wrong(wait: .zero))
        #expect(
            LoginPassword(user: "bob", folder: folder).verify(try SecretBytes("pass word ä")) == .wrong(wait: .zero))
    }

    @Test func passwordWithANulIsNotCutOff() throws {
        try service(script: checking)
        let login = LoginPassword(user: "alice", folder: folder)
        #expect(login.verify(try SecretBytes("pass word ä\u{0}more")) != .correct)
    }

    @Test func missingServiceIsSaid() throws {
        let login = LoginPassword(user: "alice", folder: folder)
        #expect(!login.isPasscodeSet)
        guard case .failed = login.verify(try SecretBytes("x")) else {
            Issue.record("a password was checked without a service")
            return
        }
    }

    @Test func hangingModuleDoesNotHangTheQuestion() throws {
        try service(script: "exec sleep 3")
        let login = LoginPassword(user: "alice", folder: folder, timeout: .milliseconds(200))
        let start = ContinuousClock.now
        guard case .failed = login.verify(try SecretBytes("x")) else {
            Issue.record("a module that hangs let somebody in")
            return
        }
        #expect(ContinuousClock.now - start < .seconds(2))
    }

    /// The password goes to a first question without echo and to nothing else.
    @Test func passwordIsGivenOnce() throws {
        try service(script: "cat > \(folder)/seen")
        let login = LoginPassword(user: "alice", folder: folder)
        #expect(login.verify(try SecretBytes("secret")) == .correct)
        let seen = try Data(contentsOf: URL(fileURLWithPath: folder + "/seen"))
        // Some versions of pam_exec end it with a NUL.
        #expect(seen.filter { $0 != 0 } == Data("secret".utf8))
    }
}
