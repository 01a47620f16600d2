import Crypto
import Enclave
import Foundation
import SecureMemory
import TPM
import TestSupport
import Testing

/// Secrets that a TPM reveals only while a counter has one value.
@Suite struct CounterSealTests {
    private static let counter: UInt32 = 0x0180_0001

    private let tpm: SoftwareTPM
    private let enclave: TPMEnclave
    private let secret: LockedBytes
    /// The counter's first value.
    private let value: UInt64

    init() throws {
        tpm = try SoftwareTPM()
        enclave = try TPMEnclave.make(.shared(tpm.address))
        secret = try LockedBytes.random(count: 32)
        try enclave.makeCounter(Self.counter)
        value = try enclave.value(ofCounter: Self.counter)
    }

    private func seal(at value: UInt64) throws -> Data {
        try enclave.seal(secret, toCounter: Self.counter, at: value)
    }

    private func unseal(_ sealed: Data, at value: UInt64) throws -> LockedBytes {
        try enclave.unseal(sealed, toCounter: Self.counter, at: value)
    }

    private func expectRefused(_ sealed: Data, at value: UInt64) {
        #expect(throws: EnclaveError.otherCounterValue) { try unseal(sealed, at: value) }
    }

    @Test func openAtOneValue() throws {
        let present = try seal(at: value)
        let next = try seal(at: value + 1)
        #expect(try unseal(present, at: value).isEqual(to: secret))
        expectRefused(next, at: value + 1)
        // The value in the request is not the one that the secret was sealed to.
        expectRefused(next, at: value)
        try enclave.advance(counter: Self.counter)
        expectRefused(present, at: value)
        expectRefused(present, at: value + 1)
        #expect(try unseal(next, at: value + 1).isEqual(to: secret))
        try tpm.restart()
        #expect(try unseal(next, at: value + 1).isEqual(to: secret))
        expectRefused(present, at: value)
        enclave.close()
        #expect(try tpm.loadedHandles().isEmpty)
    }

    /// The numbers were computed by tpm2-tools 5.4 (tpm2_nvreadpublic, and tpm2_policynv in a trial session).
    @Test func theConditionIsTheOneOfTheSpecification() throws {
        try #require(value == 1)
        // TPM2B_PUBLIC: size, type, digest of the name, attributes, size of the policy.
        let policy = try seal(at: 1).dropFirst(2 + 2 + 2 + 4 + 2).prefix(32)
        #expect(
            policy.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
                == "0dac68ed881edb3e0f5b54a20acdfa5a24b97540489a6f03b09da1d967aa1cf5")
    }

    @Test func otherSoftwareOpensThemAtThatValueOnly() throws {
        let (present, next) = (try seal(at: value), try seal(at: value + 1))
        enclave.close()
        try tpm.load(present)
        #expect(try tpm.unseal(whileCounter: Self.counter, is: value) == secret.data)
        // No authorization opens them, and none can be given to them.
        #expect(throws: SoftwareTPMError.self) { try tpm.unseal() }
        #expect(throws: SoftwareTPMError.self) {
            try tpm.tool(
                "tpm2_changeauth", "-C", tpm.path(of: "parent"), "-c", tpm.path(of: "object"), "-r",
                tpm.path(of: "changed"), "password")
        }
        try tpm.flushObjects()
        try enclave.advance(counter: Self.counter)
        enclave.close()
        let tooLate = #expect(throws: SoftwareTPMError.self) {
            try tpm.unseal(whileCounter: Self.counter, is: value)
        }
        #expect(tooLate?.program == "tpm2_policynv")
        let another = #expect(throws: SoftwareTPMError.self) {
            try tpm.unseal(whileCounter: Self.counter, is: value + 1)
        }
        #expect(another?.program == "tpm2_unseal")
        #expect(another?.output.contains("policy check failed") == true, "\(String(describing: another))")
        try tpm.load(next)
        #expect(try tpm.unseal(whileCounter: Self.counter, is: value + 1) == secret.data)
    }

    /// A counter that was removed, and something else in its place.
    @Test(arguments: ["authread|authwrite|no_da|nt=counter", "authread|authwrite|no_da"])
    func nothingElseInTheCountersPlaceOpensThem(_ attributes: String) throws {
        let sealed = try seal(at: value)
        enclave.close()
        try tpm.tool("tpm2_nvundefine", "-C", "o", "0x1800001")
        // The counter is missing.
        let missing = #expect(throws: EnclaveError.self) { try unseal(sealed, at: value) }
        #expect(missing?.description.contains("PolicyNV") == true, "\(String(describing: missing))")
        #expect(throws: EnclaveError.self) { try seal(at: value) }
        enclave.close()
        try tpm.tool("tpm2_nvdefine", "-C", "o", "-s", "8", "-a", attributes, "0x1800001")
        if attributes.contains("counter") {
            try tpm.tool("tpm2_nvincrement", "-C", "0x1800001", "0x1800001")
            #expect(try enclave.value(ofCounter: Self.counter) > value)
        } else {
            let file = tpm.path(of: "old-value")
            try withUnsafeBytes(of: value.bigEndian) { Data($0) }.write(to: URL(fileURLWithPath: file))
            try tpm.tool("tpm2_nvwrite", "-C", "0x1800001", "-i", file, "0x1800001")
            #expect(try enclave.value(ofCounter: Self.counter) == value)
            // What nothing would reveal is not sealed.
            #expect(throws: EnclaveError.self) { try seal(at: value) }
        }
        expectRefused(sealed, at: value)
    }

    @Test func softwareHasNoCounter() throws {
        let enclave = try SoftwareEnclave()
        #expect(throws: EnclaveError.self) { try enclave.seal(secret, toCounter: 1, at: 1) }
        #expect(throws: EnclaveError.self) { try enclave.unseal(Data([1]), toCounter: 1, at: 1) }
    }

    /// Another object in the secret's place must not use up the tries of the passcode.
    @Test func anObjectThatTheTPMGuardsIsRefused() throws {
        let (guarded, _) = try enclave.guardPasscode(stretched: secret)
        let error = #expect(throws: EnclaveError.self) { try unseal(guarded, at: value) }
        guard case .damagedBlob = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
