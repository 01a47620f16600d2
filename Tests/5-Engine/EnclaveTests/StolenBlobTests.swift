import Crypto
import Enclave
import Foundation
import SecureMemory
import TPM
import TestSupport
import Testing

/// What somebody can do with a blob from the disk and tools of their own.
@Suite struct StolenBlobTests {
    private let tpm: SoftwareTPM
    private let enclave: TPMEnclave
    private let authorization = SymmetricKey.random

    init() throws {
        tpm = try SoftwareTPM()
        enclave = try TPMEnclave.make(.shared(tpm.address))
    }

    private func hexadecimal(_ key: SymmetricKey) -> String {
        "hex:" + key.data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test func aKeyIsOfNoUseOnAnotherTPM() throws {
        let key = try enclave.createKey(for: .signing, authorization: authorization)
        enclave.close()
        let other = try SoftwareTPM()
        let error = #expect(throws: SoftwareTPMError.self) { try other.load(key.body) }
        #expect(error?.program == "tpm2_load")
        // The same steps lead somewhere on the right one.
        try tpm.load(key.body)
    }

    @Test func aKeyIsOfNoUseWithoutItsAuthorization() throws {
        let key = try enclave.createKey(for: .signing, authorization: authorization)
        let publicKey = try P256.Signing.PublicKey(x963Representation: enclave.publicKey(of: key))
        enclave.close()
        try tpm.load(key.body)
        let message = Data("message".utf8)
        try message.write(to: URL(fileURLWithPath: tpm.path(of: "message")))
        func sign(_ password: String) throws {
            // A tool that fails leaves what it loaded.
            try tpm.tool("tpm2_flushcontext", "-t")
            try tpm.tool(
                "tpm2_sign", "-c", tpm.path(of: "object"), "-p", password, "-g", "sha256", "-s", "ecdsa",
                "-f", "plain", "-o", tpm.path(of: "signature"), tpm.path(of: "message"))
        }
        for password in ["", "hex:00", hexadecimal(.random)] {
            let error = #expect(throws: SoftwareTPMError.self) { try sign(password) }
            #expect(error?.program == "tpm2_sign")
        }
        try sign(hexadecimal(authorization))
        let signature = try P256.Signing.ECDSASignature(
            derRepresentation: Data(contentsOf: URL(fileURLWithPath: tpm.path(of: "signature"))))
        #expect(publicKey.isValidSignature(signature, for: SHA256.hash(data: message)))
        // Nor can it be taken out.
        #expect(throws: SoftwareTPMError.self) {
            try tpm.tool(
                "tpm2_duplicate", "-C", "null", "-c", tpm.path(of: "object"), "-G", "null", "-p",
                hexadecimal(authorization), "-r", tpm.path(of: "out"), "-s", tpm.path(of: "seed"))
        }
    }

    @Test func aPasscodesSecretIsOfNoUseWithoutThePasscode() throws {
        let stretched = try LockedBytes.random(count: 32)
        let (binding, _) = try enclave.guardPasscode(stretched: stretched)
        let policy = LockoutPolicy(tries: 3, recoveryTime: 1000, ownerRecoveryTime: 1)
        #expect(try enclave.takeLockout(policy, password: .random))
        enclave.close()
        try tpm.load(binding)
        for _ in 0..<4 {
            try tpm.tool("tpm2_flushcontext", "-t")
            #expect(throws: SoftwareTPMError.self) {
                try tpm.tool("tpm2_unseal", "-c", tpm.path(of: "object"), "-p", hexadecimal(.random))
            }
        }
        // Another program's guesses count as well.
        #expect(throws: EnclaveError.lockedOut(retryAfter: 1000)) {
            try enclave.passcodeKey(stretched: stretched, binding: binding)
        }
    }

    @Test func theDeviceSecretDoesNotComeOut() throws {
        let record = enclave.encoded()
        enclave.close()
        // See DeviceRecord: header of 79 bytes, check value of 8.
        try tpm.load(record.dropFirst(79).dropLast(8))
        #expect(throws: SoftwareTPMError.self) { try tpm.tool("tpm2_unseal", "-c", tpm.path(of: "object")) }
    }
}
