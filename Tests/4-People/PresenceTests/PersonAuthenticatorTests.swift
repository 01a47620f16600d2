import Access
import Foundation
import Glibc
import KeychainModel
import Presence
import TestSupport
import Testing

/// What asking a person comes to.
@Suite struct PersonAuthenticatorTests {
    let allowance = BiometryAllowance()

    private func request(_ flags: AccessControl.Flags, context: UUID? = nil) -> AuthenticationRequest {
        AuthenticationRequest(
            flags: flags, prompt: "Show the code", client: Client(identifier: "mail", accessGroups: ["mail"]),
            context: context)
    }

    private func authenticator(
        _ prompt: ScriptedPrompt, _ reader: ScriptedReader? = nil, timeout: Duration = Patience.duration
    ) -> PersonAuthenticator {
        PersonAuthenticator(prompt: prompt, biometry: reader, allowance: allowance, timeout: timeout)
    }

    @Test func rightPasscodeSucceedsAndAllowsFingers() throws {
        let prompt = try ScriptedPrompt(typing: "1234")
        let outcome = authenticator(prompt).evaluate(request(.devicePasscode), verifier: KnownPasscode())
        #expect(outcome == .succeeded(.passcode))
        #expect(prompt.questions == [PasscodeQuestion(purpose: .presence, reason: "mail: Show the code")])
        #expect(allowance.lockout == nil)
    }

    @Test func wrongPasscodeIsAskedForAgain() throws {
        let prompt = try ScriptedPrompt(typing: "0000", "1234")
        #expect(
            authenticator(prompt).evaluate(request(.devicePasscode), verifier: KnownPasscode())
                == .succeeded(.passcode))
        #expect(prompt.questions.map(\.complaint) == [nil, "The passcode is wrong."])
    }

    @Test func threeWrongPasscodesEndIt() throws {
        let prompt = try ScriptedPrompt(typing: "0", "1", "2", "1234")
        let vault = KnownPasscode()
        #expect(
            authenticator(prompt).evaluate(request(.devicePasscode), verifier: vault)
                == .failed(.authenticationFailed))
        #expect(vault.attempts == 3)
    }

    @Test(arguments: [
        (PasscodeVerdict.wrong(wait: .seconds(300)), AuthenticationFailure.authenticationFailed, "in 5 minutes"),
        (.delayed(.seconds(59)), .authenticationFailed, "in 59 seconds"),
        (.erased, .authenticationFailed, "erased"),
        (.failed(reason: "no memory"), .systemCancel, "no memory"),
    ])
    func verdictsThatEndIt(_ verdict: PasscodeVerdict, _ failure: AuthenticationFailure, _ said: String) throws {
        let prompt = try ScriptedPrompt(typing: "0", "1234")
        #expect(
            authenticator(prompt).evaluate(request(.devicePasscode), verifier: KnownPasscode([verdict]))
                == .failed(failure))
        #expect(prompt.questions.count == 1)
        #expect(prompt.shown.count == 1 && prompt.shown[0].contains(said))
    }

    @Test(arguments: [
        (PasscodeAnswer.canceled, AuthenticationFailure.userCancel), (.timedOut, .systemCancel),
        (.unavailable(remedy: ""), .notInteractive),
    ])
    func answersThatAreNone(_ answer: PasscodeAnswer, _ failure: AuthenticationFailure) {
        let outcome = authenticator(ScriptedPrompt([answer])).evaluate(
            request(.userPresence), verifier: KnownPasscode())
        #expect(outcome == .failed(failure))
    }

    @Test func nothingToAskWithIsSaidAtOnce() {
        let prompt = ScriptedPrompt(isAvailable: false)
        for flags in [AccessControl.Flags.userPresence, .devicePasscode] {
            #expect(
                authenticator(prompt).evaluate(request(flags), verifier: KnownPasscode()) == .failed(.notInteractive))
        }
        #expect(prompt.questions.isEmpty)
    }

    @Test func vaultWithoutAPasscodeCannotAsk() throws {
        let vault = KnownPasscode(isPasscodeSet: false)
        let prompt = try ScriptedPrompt(typing: "1234")
        let authenticator = authenticator(prompt, ScriptedReader([.recognized]))
        for flags in [AccessControl.Flags.userPresence, .devicePasscode, .biometryAny] {
            #expect(authenticator.evaluate(request(flags), verifier: vault) == .failed(.passcodeNotSet))
        }
        let available = authenticator.availability(verifier: vault)
        #expect(available.biometryFailure == .passcodeNotSet)
        #expect(available.passcodeFailure == .passcodeNotSet)
        #expect(!available.isPasscodeSet)
    }

    @Test func fingerTakesThePromptAway() {
        allowance.passcodeWasGiven()
        let prompt = ScriptedPrompt()
        let outcome = authenticator(prompt, ScriptedReader([.missed, .recognized])).evaluate(
            request(.userPresence), verifier: KnownPasscode())
        #expect(outcome == .succeeded(.biometry))
        #expect(prompt.questions.first?.reason.contains("fingerprint reader") == true)
    }

    @Test func passcodeTakesTheReaderAway() throws {
        allowance.passcodeWasGiven()
        let reader = ScriptedReader()
        let outcome = authenticator(try ScriptedPrompt(typing: "1234"), reader).evaluate(
            request(.userPresence), verifier: KnownPasscode())
        #expect(outcome == .succeeded(.passcode))
        // Not one that ended with its time.
        #expect(reader.given == [.canceled])
    }

    @Test func fingerWithoutATerminalIsEnough() {
        allowance.passcodeWasGiven()
        let outcome = authenticator(ScriptedPrompt(isAvailable: false), ScriptedReader([.recognized])).evaluate(
            request(.userPresence), verifier: KnownPasscode())
        #expect(outcome == .succeeded(.biometry))
    }

    @Test func fingerAloneIsAskedForInWords() {
        allowance.passcodeWasGiven()
        let prompt = ScriptedPrompt()
        let outcome = authenticator(prompt, ScriptedReader([.missed, .recognized])).evaluate(
            request(.biometryAny), verifier: KnownPasscode())
        #expect(outcome == .succeeded(.biometry))
        #expect(prompt.questions.isEmpty)
        #expect(
            Set(prompt.shown) == [
                "mail: Show the code\nTouch the fingerprint reader.", "The finger was not recognised. Try again.",
            ])
    }

    @Test func fingerAndPasscodeAreAskedInTurn() throws {
        allowance.passcodeWasGiven()
        let prompt = try ScriptedPrompt(typing: "1234")
        let outcome = authenticator(prompt, ScriptedReader([.recognized])).evaluate(
            request([.biometryAny, .devicePasscode, .and]), verifier: KnownPasscode())
        #expect(outcome == .succeeded([.biometry, .passcode]))
    }

    @Test func fiveMissesLockFingersOutUntilThePasscode() throws {
        allowance.passcodeWasGiven()
        let reader = ScriptedReader(Array(repeating: .missed, count: 5) + [.recognized])
        let vault = KnownPasscode()
        let prompt = try ScriptedPrompt(typing: "1234")
        let authenticator = authenticator(prompt, reader)
        #expect(authenticator.evaluate(request(.biometryAny), verifier: vault) == .failed(.biometryLockout))
        #expect(authenticator.evaluate(request(.biometryAny), verifier: vault) == .failed(.biometryLockout))
        #expect(authenticator.availability(verifier: vault).biometryFailure == .biometryLockout)
        #expect(authenticator.evaluate(request(.userPresence), verifier: vault) == .succeeded(.passcode))
        #expect(authenticator.evaluate(request(.biometryAny), verifier: vault) == .succeeded(.biometry))
    }

    @Test func fingersWaitForThePasscodeAfterAStart() {
        let authenticator = authenticator(ScriptedPrompt(), ScriptedReader([.recognized]))
        let vault = KnownPasscode()
        #expect(authenticator.evaluate(request(.biometryAny), verifier: vault) == .failed(.biometryLockout))
        authenticator.passcodeWasGiven()
        #expect(authenticator.evaluate(request(.biometryAny), verifier: vault) == .succeeded(.biometry))
    }

    @Test func nobodyAnswersInTime() {
        allowance.passcodeWasGiven()
        for flags in [AccessControl.Flags.devicePasscode, .biometryAny, .userPresence] {
            let outcome = authenticator(ScriptedPrompt(), ScriptedReader(), timeout: .milliseconds(50)).evaluate(
                request(flags), verifier: KnownPasscode())
            #expect(outcome == .failed(.systemCancel))
        }
    }

    @Test(arguments: [AccessControl.Flags.devicePasscode, .userPresence, .biometryAny])
    func endedContextEndsTheQuestion(_ flags: AccessControl.Flags) {
        allowance.passcodeWasGiven()
        let context = UUID()
        let authenticator = authenticator(ScriptedPrompt(), ScriptedReader())
        let asked = request(flags, context: context)
        let ender = Thread {
            // The question may not have begun; ending an absent one does nothing.
            while !Thread.current.isCancelled {
                authenticator.cancel(ClientContext(context, of: asked.client))
                usleep(1_000)
            }
        }
        ender.start()
        defer { ender.cancel() }
        authenticator.cancel(ClientContext(UUID(), of: asked.client))
        #expect(authenticator.evaluate(asked, verifier: KnownPasscode()) == .failed(.appCancel))
    }

    @Test func anotherClientWithTheSameContextDoesNotEndTheQuestion() {
        let context = UUID()
        let authenticator = authenticator(ScriptedPrompt(), nil, timeout: .milliseconds(50))
        let other = ClientContext(context, of: Client(identifier: "other", accessGroups: []))
        let ender = Thread {
            while !Thread.current.isCancelled {
                authenticator.cancel(other)
                usleep(1_000)
            }
        }
        ender.start()
        defer { ender.cancel() }
        #expect(
            authenticator.evaluate(request(.devicePasscode, context: context), verifier: KnownPasscode())
                == .failed(.systemCancel))
    }
}
