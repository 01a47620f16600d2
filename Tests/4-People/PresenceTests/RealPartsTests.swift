import Access
import Foundation
import KeychainModel
import TestSupport
import Testing

@testable import Presence

/// The real fprintd and the real pinentry at once, as a person meets them.
@Suite struct RealPartsTests {
    private let request = AuthenticationRequest(
        flags: .userPresence, prompt: "Show the code", client: Client(identifier: "mail", accessGroups: ["mail"]))

    @Test func fingerTakesPinentryAwayAndThePasscodeTheReader() throws {
        let bench = try FingerprintBench()
        try bench.enroll("right-thumb", print: "finger-a")
        let terminal = try Pty()
        let allowance = BiometryAllowance()
        allowance.passcodeWasGiven()
        let person = PersonAuthenticator(
            prompt: PinentryPrompt(program: "/usr/bin/pinentry-tty", terminal: terminal.path),
            biometry: bench.reader, allowance: allowance, timeout: Patience.duration)
        #expect(
            person.availability(verifier: KnownPasscode())
                == PresenceAvailability(
                    biometryKind: .fingerprint, biometryFailure: nil, biometryState: bench.reader.availability().state,
                    isPasscodeSet: true, passcodeFailure: nil))

        let touched = try bench.whileDoing(["SCAN finger-b"], later: ["SCAN finger-a"]) {
            person.evaluate(request, verifier: KnownPasscode())
        }
        #expect(touched == .succeeded(.biometry))
        #expect(terminal.isEchoing)

        let typed = Handoff<AuthenticationOutcome>()
        Thread.detachNewThread { [request] in typed.put(person.evaluate(request, verifier: KnownPasscode())) }
        try terminal.expect("mail: Show the code")
        try terminal.expect("Or touch the fingerprint reader.")
        try terminal.expect("Passcode:")
        try terminal.typeUnseen("0000\n")
        try terminal.expect("The passcode is wrong.")
        try terminal.expect("Passcode:")
        try terminal.typeUnseen("1234\n")
        #expect(typed.wait(until: .patience) == .succeeded(.passcode))
        // The reader was given back.
        let again = try bench.whileDoing(["SCAN finger-a"]) {
            bench.reader.recognize(until: .patience, cancellation: Cancellation())
        }
        #expect(again == .recognized)
    }
}
