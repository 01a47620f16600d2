import Access
import Bytes
import Foundation
import KeychainModel
import TestSupport
import Testing
import VaultInterface
import VaultService

/// Programs that are asked for the passcode and answer it wrongly.
@Suite struct ServedAnswerTests {
    private let daemon: DaemonUnderTest
    private let owner: RemoteVault
    private let passcode: SecretBytes

    init() throws {
        let rule =
            #"{"executable": "\#(DaemonUnderTest.ownExecutable)", "groups": ["*"], "rights": ["list", "unlock", "#
            + #""administer"]}"#
        daemon = try DaemonUnderTest(["--rate", "0"], rules: [rule])
        owner = try daemon.connect()
        passcode = try Array("right".utf8).withUnsafeBytes { try SecretBytes(copying: $0) }
        _ = try owner.add(.password("mail", "ada", "treasure"), as: owner.granted)
        let options = PasscodeOptions(cost: .explicit(memoryMiB: 1, passes: 1), eraseAfter: 2)
        try owner.setPasscode(passcode, options: options, as: owner.granted)
    }

    @Test func aProgramHasThreeWrongAnswersOnAllItsConnectionsTogether() throws {
        let program = try daemon.program("guesser")
        // One question takes three, and the next program is the same on another connection.
        let first = try daemon.says(program, "guess", "wrong", "1")
        #expect(first == "3 answers, refused: authentication failed")
        let second = try daemon.says(program, "guess", "right", "2")
        #expect(second.hasPrefix("0 answers, interactionNotAllowed"))
        #expect(second.contains("keychain unlock"))
        let records = try owner.auditRecords(AuditQuery(), as: owner.granted)
        #expect(records.last { $0.client == program }?.event == "authentication-failed")
        #expect(records.last { $0.client == program }?.failure == "delayed")
    }

    @Test func itsWrongAnswersNeitherDelayNorEraseNorStopOthers() throws {
        let (hostile, other) = (try daemon.program("hostile"), try daemon.program("other"))
        #expect(try daemon.says(hostile, "guess", "wrong", "4").hasPrefix("3 answers, interactionNotAllowed"))
        let status = try owner.status(as: owner.granted)
        #expect(status.failedAttempts == 0)
        #expect(status.retryAfter == 0)
        #expect(try daemon.says(other, "guess", "right", "1") == "1 answers, authenticated")
        #expect(try daemon.says(hostile, "guess", "right", "1").hasPrefix("0 answers"))
        try owner.lock(after: .zero, as: owner.granted)
        try owner.unlock(with: passcode, as: owner.granted)
        #expect(
            try owner.copy(.password("mail", "ada"), includingValues: true, as: owner.granted).first?.value
                == Data("treasure".utf8))
        // The right passcode from who may unlock lets it be asked again.
        #expect(try daemon.says(hostile, "guess", "right", "1") == "1 answers, authenticated")
    }

    /// Where the vault is and how often its owner mistyped is nobody's business who cannot unlock it.
    @Test func theStatusTellsAProgramWithoutRightsNothingOfTheOwner() throws {
        #expect(throws: VaultError.self) { try owner.unlock(with: SecretBytes("wrong"), as: owner.granted) }
        let known = try owner.status(as: owner.granted)
        #expect(known.path == daemon.home)
        #expect(known.failedAttempts == 1)
        #expect(try daemon.says(try daemon.program("program"), "status") == "vault nil, 0 wrong, wait 0")
    }

    @Test func copiesOfAProgramShareTheLimitOfTheirUser() throws {
        var answers = 0
        for copy in 1...6 {
            let said = try daemon.says(try daemon.program("copy\(copy)"), "guess", "wrong", "2")
            answers += said.first?.wholeNumberValue ?? 0
        }
        #expect(answers == 10)
        #expect(try owner.status(as: owner.granted).failedAttempts == 0)
    }

    /// The engine refuses and records, as it does for groups.
    @Test func whatTakesARightIsRecordedOnceWithWhatWasAskedFor() throws {
        let program = try daemon.program("program")
        #expect(try daemon.says(program, "erase").contains("does not hold the right 'administer'"))
        let refusals = try owner.auditRecords(AuditQuery(), as: owner.granted).filter { $0.client == program }
        #expect(refusals.map(\.event) == ["refused"])
        #expect(refusals.first?.operation == "erase")
        #expect(refusals.first?.failure == "right-not-held")
    }

    /// Questions that are open at the same time are answered one after the other.
    @Test func manyOpenQuestionsTakeNoMoreAnswers() throws {
        let program = try daemon.program("program")
        let guessing = try (0..<8).map { _ in
            try Worker(["remote", daemon.socket, "guess", "wrong", "1"], command: program)
        }
        for worker in guessing { _ = worker.readLine() }
        let records = try owner.auditRecords(AuditQuery(), as: owner.granted)
        #expect(records.contains { $0.client == program && $0.failure == "authentication-failed" })
        #expect(try daemon.says(program, "guess", "right", "1").hasPrefix("0 answers"))
        // Fewer than the ten that the user has were looked at.
        #expect(try daemon.says(try daemon.program("other"), "guess", "right", "1") == "1 answers, authenticated")
    }
}
