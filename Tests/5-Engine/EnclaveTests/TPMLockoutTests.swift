import Crypto
import Enclave
import Foundation
import SecureMemory
import TPM
import TestSupport
import Testing

/// The TPM's own count of wrong passcodes.
@Suite struct TPMLockoutTests {
    private let tpm: SoftwareTPM
    private let enclave: TPMEnclave
    private let right: LockedBytes
    private let wrong: LockedBytes
    private let binding: Data
    private let key: LockedBytes

    init() throws {
        tpm = try SoftwareTPM()
        enclave = try TPMEnclave.make(.shared(tpm.address))
        right = try .random(count: 32)
        wrong = try .random(count: 32)
        (binding, key) = try enclave.guardPasscode(stretched: right)
    }

    private func lock(tries: UInt32, recovery: UInt32) throws {
        let policy = LockoutPolicy(tries: tries, recoveryTime: recovery, ownerRecoveryTime: 1)
        #expect(try enclave.takeLockout(policy, password: nil))
        #expect(try enclave.connection.lockoutState().policy == policy)
    }

    private func expectWrong() {
        #expect(throws: EnclaveError.wrongAuthorization) {
            try enclave.passcodeKey(stretched: wrong, binding: binding)
        }
    }

    @Test func looksAtNoPasscodeAfterTooManyWrongOnes() throws {
        try lock(tries: 3, recovery: 1000)
        let authorization = SymmetricKey.random
        let signing = try enclave.createKey(for: .signing, authorization: authorization)
        for _ in 0..<3 { expectWrong() }
        #expect(try enclave.connection.lockoutState().isLockedOut)
        for passcode in [right, wrong] {
            #expect(throws: EnclaveError.lockedOut(retryAfter: 1000)) {
                try enclave.passcodeKey(stretched: passcode, binding: binding)
            }
        }
        // Nothing else suffers.
        _ = try enclave.sign(digest: Data(count: 32), with: signing, authorization: authorization)
        _ = try enclave.createKey(for: .signing, authorization: authorization)
        _ = try enclave.deriveKey(tangling: nil, salt: Data(count: 32), context: "a")
        _ = try TPMEnclave.make(.shared(tpm.address))

        enclave.close()
        try tpm.tool("tpm2_dictionarylockout", "-c")
        #expect(try enclave.passcodeKey(stretched: right, binding: binding).isEqual(to: key))
    }

    @Test func forgivesWithTime() throws {
        try lock(tries: 2, recovery: 1)
        for _ in 0..<2 { expectWrong() }
        var answer: LockedBytes?
        try eventually("the TPM forgets a wrong passcode") {
            do throws(EnclaveError) {
                answer = try enclave.passcodeKey(stretched: right, binding: binding)
            } catch {
                guard error == .lockedOut(retryAfter: 1) else { throw error }
            }
            return answer != nil
        }
        #expect(answer?.isEqual(to: key) == true)
    }

    @Test func wrongKeysDoNotCount() throws {
        try lock(tries: 2, recovery: 1000)
        let signing = try enclave.createKey(for: .signing, authorization: .random)
        for _ in 0..<5 {
            #expect(throws: EnclaveError.wrongAuthorization) {
                try enclave.sign(digest: Data(count: 32), with: signing, authorization: .random)
            }
        }
        #expect(try enclave.connection.lockoutState().failures == 0)
        #expect(try enclave.passcodeKey(stretched: right, binding: binding).isEqual(to: key))
    }

    @Test func stoppedInGoodOrderNoTryIsLost() throws {
        try lock(tries: 5, recovery: 1000)
        for _ in 0..<3 {
            _ = try enclave.passcodeKey(stretched: right, binding: binding)
            enclave.close()
            try tpm.restart()
        }
        #expect(try enclave.connection.lockoutState().failures == 0)
        // Else each stop counts: the reason why there are many tries.
        _ = try enclave.passcodeKey(stretched: right, binding: binding)
        try tpm.restart()
        #expect(try enclave.connection.lockoutState().failures == 1)
    }

    @Test func onlyItsOwnerEndsALockout() throws {
        let password = SymmetricKey.random
        let policy = LockoutPolicy(tries: 2, recoveryTime: 1000, ownerRecoveryTime: 1000)
        #expect(try !enclave.connection.lockoutState().hasPassword)
        #expect(try enclave.takeLockout(policy, password: password))
        #expect(try enclave.connection.lockoutState().hasPassword)
        // Whoever comes second changes nothing.
        #expect(try !enclave.takeLockout(.standard, password: .random))
        #expect(try enclave.connection.lockoutState().policy == policy)
        for _ in 0..<2 { expectWrong() }
        enclave.close()
        let hexadecimal = password.data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        try tpm.tool("tpm2_dictionarylockout", "-c", "-p", "hex:" + hexadecimal)
        #expect(try enclave.passcodeKey(stretched: right, binding: binding).isEqual(to: key))
        enclave.close()
        #expect(throws: SoftwareTPMError.self) { try tpm.tool("tpm2_dictionarylockout", "-c") }
    }
}
