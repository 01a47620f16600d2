import Foundation
import TestSupport
import Testing

/// `keychain key attest` and `keychain key verify-attestation`.
@Suite struct AttestationCommandTests {
    private let workplace: Workplace
    private let tpm: SoftwareTPM
    private let nonce = "00112233445566778899aabbccddeeff"

    init() throws {
        workplace = try Workplace()
        tpm = try SoftwareTPM()
    }

    private func shell(_ script: String) throws -> ProgramOutcome {
        try workplace.shell("export KEYCHAIN_TPM='\(tpm.address)' NONCE=\(nonce)\n" + script)
    }

    private func makeKeys() throws {
        #expect(try shell("keychain init --enclave tpm2 --keep-lockout").status == 0)
        #expect(try shell("keychain key create laptop --enclave && keychain key create other --enclave").status == 0)
    }

    @Test func aProofHoldsWithOpenSSLAndToolsAndOnAnotherMachine() throws {
        try makeKeys()
        let made = try shell("keychain key attest laptop --nonce $NONCE --out proof")
        #expect(made.status == 0, Comment(rawValue: made.errors))
        let words = try #require(
            made.text.wholeMatch(of: /key       ([0-9a-f]{40})\nattester  (000b[0-9a-f]{64})\nnonce     (.*)\n/))
        #expect(words.3 == nonce)
        let attester = String(words.2)

        // Nothing but the folder, and neither a vault nor a TPM.
        let elsewhere = try workplace.shell(
            """
            export KEYCHAIN_HOME=$HOME/nothing
            keychain key verify-attestation proof --nonce \(nonce) --attester \(attester) || exit
            keychain key verify-attestation proof --json
            openssl dgst -sha256 -verify proof/ak.pem -signature proof/signature.der proof/attest.bin
            ls proof; test ! -e $KEYCHAIN_HOME
            """)
        #expect(elsewhere.status == 0, Comment(rawValue: elsewhere.errors))
        let answer =
            #"{"attester":"\#(attester)","attesterIsKnown":false,"hash":"\#(words.1)","nonce":"\#(nonce)","#
            + #""nonceIsKnown":false,"uses":["sign","agree"],"valid":true}"#
        let names = "ak.pem ak.pub attest.bin ek.pem ek.pub key.pem key.pub signature.bin signature.der"
        let lines = [answer, "Verified OK"] + names.split(separator: " ").map(String.init)
        #expect(elsewhere.text == made.text + lines.joined(separator: "\n") + "\n")
        let own = try shell(
            """
            keychain key public laptop | cmp - proof/key.pem
            keychain key list | grep -c \(words.1.prefix(8))
            keychain key verify-attestation proof | grep -c 'not compared'
            """)
        #expect(own.text == "1\n2\n", Comment(rawValue: own.errors))
        let statement = workplace.path + "/proof/attest.bin"
        #expect(try tpm.tool("sh", "-c", "tpm2_print -t TPMS_ATTEST \(statement) || :").contains("extraData: \(nonce)"))
        let area = try tpm.tool("tpm2_print", "-t", "TPM2B_PUBLIC", workplace.path + "/proof/key.pub")
        #expect(area.contains("value: fixedtpm|fixedparent|sensitivedataorigin|userwithauth|noda|decrypt|sign"))
        #expect(try tpm.loadedHandles().isEmpty)
    }

    @Test func whatProvesNothingIsRefused() throws {
        try makeKeys()
        let made = try shell(
            """
            keychain key attest laptop --nonce $NONCE --out proof && keychain key attest other --nonce $NONCE --out other
            """)
        #expect(made.status == 0, Comment(rawValue: made.errors))
        for (change, words) in [
            ("cp ../other/key.pub .", "about another key"),
            ("cp ../other/key.pem .", "key.pem does not say the same"),
            ("cp ../other/signature.der .", "signature.der does not say the same"),
            ("cp ../other/ek.pem ak.pem", "ak.pem does not say the same"),
            ("cp ../other/attest.bin .", "signature is not"),
            ("cp ek.pub ak.pub", "attestation key"),
            ("printf x >> attest.bin", "signature is not"),
            (": > signature.bin", "the signature is malformed"),
            ("rm attest.bin", "attest.bin cannot be read"),
        ] {
            let checked = try shell(
                "cp -r proof changed; cd changed; \(change); cd ..; keychain key verify-attestation changed; "
                    + "status=$?; rm -r changed; exit $status")
            #expect(checked.status == 1, Comment(rawValue: change))
            #expect(checked.errors.contains(words), Comment(rawValue: checked.errors))
            #expect(checked.text.isEmpty)
        }
        let wrong = "0011223344556677"
        for (options, words) in [
            ("--nonce \(wrong)", "another nonce"), ("--attester 000b\(String(repeating: "00", count: 32))", "expected"),
        ] {
            let checked = try shell("keychain key verify-attestation proof \(options)")
            #expect(checked.status == 1)
            #expect(checked.errors.contains(words), Comment(rawValue: checked.errors))
        }
    }

    @Test func theCommandLineIsChecked() throws {
        try makeKeys()
        for arguments in [
            "laptop", "laptop --out ''", "laptop --out x --nonce 00", "laptop --out x --nonce \(nonce)\(nonce)00",
            "laptop --out x --nonce 0011223344556677zz",
        ] {
            #expect(try shell("keychain key attest \(arguments)").status == 64, Comment(rawValue: arguments))
        }
        #expect(try shell("keychain key verify-attestation proof --attester 00").status == 64)
        #expect(try shell("keychain key attest nobody --json").status == 44)
        let full = try shell("mkdir full; : > full/file; keychain key attest laptop --out full")
        #expect(full.errors.contains("has files in it"))
        #expect(try shell("keychain key attest laptop --out no/where").errors.contains("no/where cannot be written"))
        // A nonce that nobody gave is printed, and another each time.
        let first = try shell("keychain key attest laptop --json")
        let second = try shell("keychain key attest laptop --json")
        let printed = /"nonce":"([0-9a-f]{64})"/
        #expect(try #require(first.text.firstMatch(of: printed)).1 != #require(second.text.firstMatch(of: printed)).1)
        #expect(first.text.contains(#""files":{"ak.pem":""#))
    }

    @Test func onlyKeysInATPMAreAttested() throws {
        try makeKeys()
        #expect(
            try shell("keychain key create plain && keychain key create door --accessible after-first-unlock").status
                == 0)
        for key in ["plain", "door"] {
            let refused = try shell("keychain key attest \(key) --json")
            #expect(refused.status == 1)
            #expect(refused.errors.contains("was not made in an enclave"), Comment(rawValue: refused.errors))
        }
        let software = try workplace.shell(
            "export KEYCHAIN_HOME=$HOME/software; keychain key create laptop --enclave; keychain key attest laptop --out x"
        )
        #expect(software.status == 1)
        #expect(software.errors.contains("keychain init --enclave tpm2"), Comment(rawValue: software.errors))
    }

    /// Attesting is a use of the key: a lock keeps it from that, and a person is asked.
    @Test func theLockHolds() throws {
        try makeKeys()
        #expect(
            try shell(
                """
                printf pass > pass; keychain passcode set --memory 8 --passes 1 --new-passcode-fd 3 3< pass
                keychain key create door --enclave --require presence --passcode-fd 3 3< pass &&
                    keychain passcode remove --passcode-fd 3 3< pass
                """
            ).status == 0)
        let nobody = try shell("keychain key attest door --out proof")
        #expect(nobody.status == 51)
        #expect(nobody.errors.contains("no passcode is set"), Comment(rawValue: nobody.errors))
        #expect(
            try shell("printf pass > pass; keychain passcode set --memory 8 --passes 1 --new-passcode-fd 3 3< pass")
                .status == 0)
        let locked = try shell("keychain key attest laptop --out proof")
        #expect(locked.status == 36, Comment(rawValue: locked.errors))
        #expect(locked.text.isEmpty)
        let opened = try shell("keychain key attest laptop --out proof --passcode-fd 3 3< pass")
        #expect(opened.status == 0, Comment(rawValue: opened.errors))
        #expect(try shell("keychain key verify-attestation proof").status == 0)
    }
}
