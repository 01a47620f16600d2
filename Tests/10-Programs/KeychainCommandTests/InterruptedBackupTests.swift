import Foundation
import Glibc
import TestSupport
import Testing

/// `keychain backup` and `keychain backup restore` that are killed on their way.
@Suite struct InterruptedBackupTests {
    private static func workplace() throws -> Workplace {
        let workplace = try Workplace()
        try require(
            workplace,
            """
            export KEYCHAIN_HOME="$HOME/vault"
            head -c 200000 /dev/urandom | base64 | keychain set large alice
            for number in 1 2 3; do printf secret | keychain set mail "alice$number"; done
            keychain recovery create > key
            keychain backup create --to-recovery-key whole
            """)
        return workplace
    }

    private static func require(_ workplace: Workplace, _ command: String) throws {
        let outcome = try workplace.shell(command)
        try #require(outcome.status == 0, "\(command): \(outcome.errors)")
    }

    /// Starts a command, and kills it after a random time of up to somewhat longer than it takes.
    ///
    /// - Returns: Whether it had ended by then.
    private static func kill(
        _ arguments: [String], in workplace: Workplace, home: String, after time: Double,
        _ generator: inout SeededGenerator
    ) throws -> Bool {
        var program = workplace.start(["keychain", "backup"] + arguments)
        program.folder = workplace.path
        program.environment?.append("KEYCHAIN_HOME=\(workplace.path)/\(home)")
        program.environment?.removeAll { $0 == "KEYCHAIN_HOME=\(workplace.home)" }
        let process = try program.start { actions in
            posix_spawn_file_actions_addopen(&actions, 0, workplace.path + "/key", O_RDONLY, 0)
            for descriptor in Int32(1)...2 {
                posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
            }
        }
        usleep(useconds_t(Double.random(in: 0...time, using: &generator)))
        Glibc.kill(process, SIGKILL)
        return ProgramStart.wait(for: process) == 0
    }

    private static func microseconds(_ body: () throws -> Void) rethrows -> Double {
        let start = ContinuousClock.now
        try body()
        return max(20_000, 1.2 * ((ContinuousClock.now - start) / .microseconds(1)))
    }

    @Test func aKilledBackupIsNoFile() throws {
        let workplace = try Self.workplace()
        let making = "KEYCHAIN_HOME=$HOME/vault keychain backup create --to-recovery-key --force new"
        let time = try Self.microseconds { try Self.require(workplace, making) }
        var generator = SeededGenerator()
        var finished = 0
        for turn in 0..<TestScale.count(10, soak: 500) {
            // By turns where there is none, and in the place of an earlier one.
            if turn.isMultiple(of: 2) { try Self.require(workplace, "rm -f new") }
            let arguments = ["create", "--to-recovery-key", "--force", "new"]
            let isDone = try Self.kill(arguments, in: workplace, home: "vault", after: time, &generator)
            finished += isDone ? 1 : 0
            let isThere = FileManager.default.fileExists(atPath: workplace.path + "/new")
            #expect(isThere || !isDone)
            guard isThere else { continue }
            try Self.require(workplace, "keychain backup --verify new --key-fd 3 3< key")
        }
        print("killed \(TestScale.count(10, soak: 500) - finished) of \(TestScale.count(10, soak: 500)) backups")
        try Self.require(workplace, making + "; KEYCHAIN_HOME=$HOME/vault keychain status --verify")
    }

    @Test func aKilledRestoreIsNoVault() throws {
        let workplace = try Self.workplace()
        let restoring = "KEYCHAIN_HOME=$HOME/next keychain backup restore whole --key-fd 3 3< key"
        let time = try Self.microseconds { try Self.require(workplace, restoring) }
        var generator = SeededGenerator()
        var finished = 0
        for _ in 0..<TestScale.count(10, soak: 500) {
            try Self.require(workplace, "rm -rf next")
            let isDone = try Self.kill(["restore", "whole"], in: workplace, home: "next", after: time, &generator)
            finished += isDone ? 1 : 0
            let isThere = FileManager.default.fileExists(atPath: workplace.path + "/next/keybag")
            #expect(isThere || !isDone)
            if !isThere { try Self.require(workplace, restoring) }
            try Self.require(
                workplace,
                """
                export KEYCHAIN_HOME="$HOME/next"
                keychain status --verify >/dev/null && test "$(keychain list | wc -l)" = 4
                test ! -e next.restoring/keybag
                """)
        }
        print("killed \(TestScale.count(10, soak: 500) - finished) of \(TestScale.count(10, soak: 500)) restores")
    }
}
