import Foundation
import TestSupport
import Testing

/// `keychain init`, and a vault in a TPM at the command line.
@Suite struct EnclaveCommandTests {
    private let workplace: Workplace
    private let tpm: SoftwareTPM

    init() throws {
        workplace = try Workplace()
        tpm = try SoftwareTPM()
    }

    private func keychain(_ arguments: String, environment: String = "") throws -> ProgramOutcome {
        try workplace.shell("KEYCHAIN_TPM='\(tpm.address)' \(environment) keychain \(arguments)")
    }

    @Test func aVaultInATPMIsChosenAndStaysThere() throws {
        let unmade = try keychain("init --enclave tpm2", environment: "KEYCHAIN_TPM=swtpm:path=/nowhere")
        #expect(unmade.status == 1)
        #expect(unmade.errors.contains("no vault was made"))
        #expect(!FileManager.default.fileExists(atPath: workplace.home + "/device-secret"))
        let made = try keychain("init --enclave tpm2")
        #expect(made.status == 0, Comment(rawValue: made.errors))
        let password = made.text.firstMatch(of: /password +([A-Z2-7]{4}(-[A-Z2-7]{4}){5})\n/)
        #expect(made.text.contains("enclave   tpm2\n"))
        #expect(password != nil)
        let words = try keychain("init --enclave tpm2").text
        #expect(words.contains(/password +it has one already/))
        let again = try keychain("init --enclave tpm2 --json")
        #expect(again.text == #"{"enclave":"tpm2","vault":"\#(workplace.home)"}"# + "\n")

        let other = try keychain("init")
        #expect(other.status == 1)
        #expect(other.errors.contains("'tpm2', and stays with it"))
        #expect(try keychain("init --enclave tpm").status == 64)

        #expect(try workplace.shell("printf secret | KEYCHAIN_TPM='\(tpm.address)' keychain set s a").status == 0)
        #expect(try keychain("get s a").text == "secret")
        #expect(try keychain("status").text.contains("enclave   tpm2\n"))
        #expect(try keychain("status --json").text.contains(#""enclave":"tpm2""#))

        // Without its TPM there is no vault, and no other is made.
        for (address, words) in [
            ("swtpm:path=/nowhere", "see that KEYCHAIN_TPM names a TPM that runs"),
            ("cmd:sh", "KEYCHAIN_TPM is 'cmd:sh'"),
        ] {
            let lost = try keychain("get s a", environment: "KEYCHAIN_TPM=\(address)")
            #expect(lost.status == 1)
            #expect(lost.text.isEmpty)
            #expect(lost.errors.contains(words))
        }
    }

    /// The lockout's password is shown once, and nothing but clearing the TPM helps whoever has not seen it.
    @Test func aPasswordThatNobodySeesIsNotSet() throws {
        #expect(try keychain("init --enclave tpm2 > /dev/full").status != 0)
        #expect(try tpm.tool("tpm2_getcap", "properties-variable").contains(/lockoutAuthSet: +0/))
        let again = try keychain("init --enclave tpm2")
        #expect(again.status == 0)
        let password = try #require(again.text.firstMatch(of: /password +(.*)\n/)?.1)
        try tpm.tool("tpm2_dictionarylockout", "-c", "-p", String(password))
    }

    @Test func aKeyIsMadeAndUsedInTheTPM() throws {
        #expect(try keychain("init --enclave tpm2").status == 0)
        #expect(try keychain("key create laptop --enclave").status == 0)
        #expect(try keychain("key list").text.hasPrefix("laptop\tp256\ttpm2\t"))
        let signed = try workplace.shell(
            """
            export KEYCHAIN_TPM='\(tpm.address)'
            keychain key public laptop > key.pem
            printf text > text; keychain key sign laptop < text > text.sig
            openssl dgst -sha256 -verify key.pem -signature text.sig text
            keychain key encrypt laptop < text | keychain key decrypt laptop
            """)
        #expect(signed.text == "Verified OK\ntext", "\(signed.errors)")
        #expect(try keychain("export laptop --private").status == 1)
        #expect(try tpm.loadedHandles().isEmpty)
    }

    @Test func theLockoutCanBeLeftAlone() throws {
        let made = try keychain("init --enclave tpm2 --keep-lockout")
        #expect(made.text == "vault    \(workplace.home)\nenclave  tpm2\n")
        #expect(try tpm.tool("tpm2_getcap", "properties-variable").contains("lockoutAuthSet:            0"))
    }

    @Test func aCounterIsChosenAtTheBeginning() throws {
        #expect(try keychain("init --detect-rollback").errors.contains("the software enclave has no counters"))
        #expect(try keychain("init --enclave tpm2 --detect-rollback --keep-lockout").status == 0)
        #expect(try keychain("init --enclave tpm2 --detect-rollback --keep-lockout").status == 0)
        let other = try keychain("init --enclave tpm2 --detect-rollback", environment: "KEYCHAIN_HOME=$HOME/other")
        #expect(other.status == 0, Comment(rawValue: other.errors))
        #expect(try keychain("init --enclave tpm2", environment: "KEYCHAIN_HOME=$HOME/third").status == 0)
        let late = try keychain("init --enclave tpm2 --detect-rollback", environment: "KEYCHAIN_HOME=$HOME/third")
        #expect(late.errors.contains("made without a counter"))
    }

    @Test func aSoftwareVaultIsTheDefault() throws {
        let made = try keychain("init")
        #expect(made.text == "vault    \(workplace.home)\nenclave  software\n")
        #expect(try keychain("status --json").text.contains(#""enclave":"software""#))
    }

    @Test func aRecoveryKeyLeadsToAnotherMachine() throws {
        #expect(try keychain("init --enclave tpm2").status == 0)
        #expect(try workplace.shell("printf secret | KEYCHAIN_TPM='\(tpm.address)' keychain set s a").status == 0)
        let made = try keychain("recovery create > key")
        #expect(made.status == 0, Comment(rawValue: made.errors))
        let wrong = try workplace.shell("tr A-Y B-Z < key | keychain recovery restore")
        #expect(wrong.status == 1 || wrong.status == 64)
        #expect(wrong.errors.contains("recovery key"))
        #expect(try workplace.shell("echo word | keychain recovery restore").status == 64)
        let restored = try workplace.shell("keychain recovery restore --json < key")
        #expect(
            restored.text == #"{"enclave":"software","lostItems":0,"vault":"\#(workplace.home)"}"# + "\n",
            Comment(rawValue: restored.errors))
        #expect(try workplace.shell("keychain get s a").text == "secret")
    }

    /// A TPM behind a socket serves one program at a time.
    @Test func eightProgramsShareTheTPM() throws {
        #expect(try keychain("init --enclave tpm2").status == 0)
        #expect(try workplace.shell("printf secret | KEYCHAIN_TPM='\(tpm.address)' keychain set s a").status == 0)
        let outcome = try workplace.shell(
            """
            export KEYCHAIN_TPM='\(tpm.address)'
            for client in 1 2 3 4 5 6 7 8; do
                (for round in 1 2 3; do keychain get s a; done) &
            done
            wait
            """)
        #expect(outcome.text == String(repeating: "secret", count: 24))
        #expect(outcome.errors.isEmpty)
        #expect(try tpm.loadedHandles().isEmpty)
    }
}
