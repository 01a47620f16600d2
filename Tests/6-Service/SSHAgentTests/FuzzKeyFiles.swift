import Bytes
import Certificates
import Foundation
import TestSupport
import Testing

@testable import SSHAgent

/// Keys in OpenSSH's own form that are almost right.
struct FuzzKeyFiles {
    private struct Encrypted: Error {}

    /// What `ssh-keygen` writes, without the lines around it.
    private static func samples() throws -> [Data] {
        let folder = try TemporaryFolder()
        return try [["ed25519"], ["ecdsa", "-b", "256"], ["ecdsa", "-b", "521"], ["rsa", "-b", "1024"]].map { kind in
            let path = folder.path(of: kind.joined())
            let outcome = try ProgramStart(
                ["/usr/bin/ssh-keygen", "-q", "-N", "", "-C", "", "-f", path, "-t"] + kind
            ).run()
            try #require(outcome.status == 0, "\(outcome.errors)")
            let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
            return try #require(Data(base64Encoded: lines.dropFirst().dropLast().joined()))
        }
    }

    /// Whatever the bytes, there is a key that can be written, or an error of this form.
    @Test func fuzzOpenSSH() throws {
        let samples = try Self.samples()
        var run = FuzzRun("openssh", samples: samples, plain: 2_000, soak: 500_000)
        let report = try run.run { input in
            do {
                let key = try OpenSSHFile(input).key { throw Encrypted() }
                guard try key.privateKeyInfo() != nil else { throw FuzzFinding("a public key") }
                return true
            } catch is OpenSSHFile.Failure {
                return false
            } catch is Encrypted {
                return false
            }
        }
        #expect(report.accepted >= min(report.tried, samples.count))
    }
}
